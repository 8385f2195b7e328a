/** Starts one llama-server, waits until it answers, and ends with it. */

import { randomBytes } from "node:crypto";
import type { HostedServer, HostedServices } from "../host/model-child.ts";
import { startServerProgram } from "../host/server-program.ts";
import { readProperties } from "./server-properties.ts";

export interface LlamaServerStart {
  binary: string;
  /** Command-line arguments in addition to those for the address. */
  options: readonly string[];
  startTimeoutSeconds: number;
}

/**
 * The prompt cache in main memory would grow to 8 GiB by default. A variable rather than an argument because an older
 * llama-server ignores it instead of failing.
 */
const ENVIRONMENT = { LLAMA_ARG_CACHE_RAM: "0" };

/** Throws a Fault with llama-server's last log lines when it exits before it is ready, or takes too long. */
export async function open(settings: unknown, services: HostedServices): Promise<HostedServer> {
  const { binary, options, startTimeoutSeconds } = settings as LlamaServerStart;
  const key = randomBytes(24).toString("base64url");
  const program = {
    ...{ name: "llama-server", binary, startTimeoutSeconds, healthPath: "/health" },
    args: (port: string, host: string) => [...options, "--host", host, "--port", port],
    // Every user of the machine can read arguments, so the key is an environment variable.
    environment: { ...ENVIRONMENT, ...process.env, LLAMA_API_KEY: key },
  };
  const server = await startServerProgram(program, services);
  return { task: "server", key, ...server, properties: await readProperties(server.origin, key) };
}
