/** A load balancer that sends each request to the next replica, with headers of the test added. */

import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";

export interface Balancer {
  origin: string;
  /** Requests of each replica. */
  counts: number[];
  close(): Promise<void>;
}

export async function startBalancer(
  origins: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Balancer> {
  const counts = origins.map(() => 0);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const replica = turn % origins.length;
    turn += 1;
    counts[replica] = (counts[replica] ?? 0) + 1;
    const url = new URL(incoming.url ?? "/", origins[replica]);
    const forwarded = sendRequest(url, { method: incoming.method, headers: { ...incoming.headers, ...headers } });
    forwarded.on("response", (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    counts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
