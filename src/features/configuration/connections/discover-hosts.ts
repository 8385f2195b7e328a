/** Finds inference servers on this machine: the ports that they use by default, on loopback addresses only. */

import type { OutgoingGuard } from "../../../kernel/outgoing/outgoing-guard.ts";
import { HostClient } from "./host-client.ts";
import { type IdentifiedHost, identifyHost } from "./identify-host.ts";

/** Default ports: Jan, LM Studio, TGI, LiteLLM, text-generation-webui, vLLM, llama-server, Xinference, Ollama, SGLang. */
export const KNOWN_PORTS: readonly number[] = [
  1234, 1337, 3000, 4000, 5000, 8000, 8001, 8002, 8080, 8081, 9997, 11434, 30000,
];

export interface DiscoverOptions {
  guard: OutgoingGuard;
  signal: AbortSignal;
  /** Ports to leave out, such as that of this service. */
  except: readonly number[];
  ports?: readonly number[];
}

/** Resolves with the servers that answer, in the order of their ports. */
export async function discoverHosts({
  guard,
  signal,
  except,
  ports = KNOWN_PORTS,
}: DiscoverOptions): Promise<IdentifiedHost[]> {
  const client = new HostClient({ guard, signal, headers: {} });
  const hosts = await Promise.all(
    ports
      .filter((port) => !except.includes(port))
      .map(async (port) => {
        for (const host of ["127.0.0.1", "[::1]"]) {
          const server = await identifyHost(client, `http://${host}:${port}`).catch(() => undefined);
          // Other programs answer there, too: development servers, dashboards.
          if (server !== undefined && (server.isAccepted || server.kind !== "openai-compatible")) return server;
        }
        return undefined;
      }),
  );
  signal.throwIfAborted();
  return hosts.filter((host) => host !== undefined);
}
