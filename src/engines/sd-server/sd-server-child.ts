/** Starts one sd-server, waits until it answers, and ends with it. */

import type { HostedServer, HostedServices } from "../host/model-child.ts";
import { startServerProgram } from "../host/server-program.ts";

export interface SdServerStart {
  binary: string;
  /** Command-line arguments in addition to those for the address. */
  options: readonly string[];
  startTimeoutSeconds: number;
}

/** Throws a Fault with sd-server's last log lines when it exits before it is ready, or takes too long. */
export async function open(settings: unknown, services: HostedServices): Promise<HostedServer> {
  const { binary, options, startTimeoutSeconds } = settings as SdServerStart;
  const program = {
    // The server listens only after it has loaded its model.
    ...{ name: "sd-server", binary, startTimeoutSeconds, healthPath: "/v1/models" },
    args: (port: string, host: string) => [...options, "--listen-ip", host, "--listen-port", port],
    environment: process.env,
  };
  // The server has no keys.
  return { task: "server", key: "", properties: undefined, ...(await startServerProgram(program, services)) };
}
