/** Runs a program that serves a model over HTTP, supervised as any model's process is. */

import type { ModelHealth } from "../open-model.ts";
import type { HostModelOptions } from "./host-model.ts";
import type { ServerFacts } from "./messages.ts";
import { SUPERVISION, Supervisor } from "./supervisor.ts";

/** `module` exports `open`, which starts the server and resolves with its facts once it answers. */
export type HostServerOptions = Omit<HostModelOptions, "environment">;

export interface HostedServer {
  /** Of the server that runs now: after a restart its address and its key are others. Throws a Fault while none runs. */
  current(): ServerFacts;
  /** Resolves once the server that runs now has ended. */
  ended(): Promise<void>;
  health(): ModelHealth;
  close(): Promise<void>;
}

/** Resolves once the server answers. Throws the Fault that `open` throws, or one that tells how the process ended. */
export async function hostServer({ signal, ...options }: HostServerOptions): Promise<HostedServer> {
  const supervisor = new Supervisor({ ...SUPERVISION, ...options, environment: {} });
  await supervisor.open(signal);
  return {
    current() {
      supervisor.throwUnlessUp();
      return supervisor.facts as ServerFacts;
    },
    ended: async () => void (await supervisor.exited),
    health: () => supervisor.health(),
    close: () => supervisor.close(),
  };
}
