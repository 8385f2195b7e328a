import { setTimeout as pause } from "node:timers/promises";
import type { Inference } from "./inference/inference.ts";
import type { Server } from "./server.ts";

export interface Draining {
  server: Server;
  inference: Pick<Inference, "stop">;
}

/** Stops accepting, lets running requests finish until the deadline, then fails the rest with an error. */
export async function drain({ server, inference }: Draining, seconds: number): Promise<void> {
  server.drain();
  const deadline = performance.now() + seconds * 1000;
  while (server.openRequests() > 0 && performance.now() < deadline) await pause(50);
  inference.stop();
  // Writing the error frames takes a moment; a client that does not read them does not delay the exit.
  const flushed = performance.now() + 1000;
  while (server.openRequests() > 0 && performance.now() < flushed) await pause(20);
  await server.app.close();
}
