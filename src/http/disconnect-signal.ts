import type { ServerResponse } from "node:http";

/**
 * Aborts when the client leaves before its answer was sent whole. Taken from the response's `close`: Fastify's own
 * `request.signal` aborts on Node 20 as soon as the body has been read.
 */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
