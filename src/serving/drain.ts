import type { Inference } from "../inference/inference.ts";
import { until } from "../kernel/async/retry.ts";
import type { Server } from "./server.ts";

export interface Draining {
  server: Server;
  inference: Pick<Inference, "stop">;
}

/** Stops accepting, lets running requests finish until the deadline, then fails the rest with an error. */
export async function drain({ server, inference }: Draining, seconds: number): Promise<void> {
  server.drain();
  const isIdle = () => server.openRequests() === 0;
  await until(isIdle, { everyMs: 50, timeoutMs: seconds * 1000 });
  inference.stop();
  // Writing the error frames takes a moment; a client that does not read them does not delay the exit.
  await until(isIdle, { everyMs: 20, timeoutMs: 1000 });
  await server.app.close();
}
