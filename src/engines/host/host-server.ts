/** Runs a program that serves a model over HTTP, under the same supervision as any model's process. */

import type { ModelHealth } from "../../contracts/open-model.ts";
import type { HostModelOptions } from "./host-model.ts";
import type { ServerFacts } from "./messages.ts";
import { SUPERVISION, Supervisor } from "./supervisor.ts";

/** `module` exports `open`, which starts the server and resolves with its facts once it answers. */
export type HostServerOptions = Omit<HostModelOptions, "environment">;

export interface HostedServer {
  /** Facts of the running server. Its address and key change with each restart. Throws a Fault while it is down. */
  current(): ServerFacts;
  /** PID of the program that was started last. */
  readonly pid: number | undefined;
  /** Resolves once the running server has ended. */
  ended(): Promise<void>;
  health(): ModelHealth;
  close(): Promise<void>;
}

/** Resolves once the server answers. Throws the Fault of `open`, or one that says how the process ended. */
export async function hostServer({ signal, ...options }: HostServerOptions): Promise<HostedServer> {
  const supervisor = new Supervisor({ ...SUPERVISION, ...options, environment: {} });
  await supervisor.open(signal);
  return {
    current() {
      supervisor.throwUnlessUp();
      return supervisor.facts as ServerFacts;
    },
    get pid() {
      return (supervisor.facts as ServerFacts | undefined)?.pid;
    },
    ended: async () => void (await supervisor.exited),
    health: () => supervisor.health(),
    close: () => supervisor.close(),
  };
}
