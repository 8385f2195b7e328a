import type { FastifyReply } from "fastify";

/**
 * Aborts when the client leaves before its answer was sent whole. Taken from the response's `close`: Fastify's own
 * `request.signal` aborts on Node 20 as soon as the body has been read.
 */
export function disconnectSignal({ raw, request }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (raw.destroyed) controller.abort();
  request.record.clientLeft = controller;
  return controller.signal;
}
