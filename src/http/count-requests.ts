/** Counts the requests of project keys that run no model, so that limits bound what a key may store and start. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import { toRateLimitHeaders } from "../wire/openai/rate-limit-headers.ts";
import type { Operation } from "../wire/openapi/operation.ts";

/** Throws a Fault for a caller who is over a limit. */
type CountRequest = (caller: Caller) => Promise<RateLimitStatus>;

declare module "fastify" {
  interface FastifyInstance {
    /** Undefined in a scope whose requests nothing counts. */
    countRequest?: CountRequest;
  }
}

/** Makes operations of a scope count, unless they say otherwise. */
export function countRequests(scope: FastifyInstance, countRequest: CountRequest): void {
  scope.decorate("countRequest", countRequest);
}

/** Whether the service counts a call, before its handler runs. */
export function isCounted(method: string, { permission, counts }: Pick<Operation, "permission" | "counts">): boolean {
  return permission === "project" && counts === undefined && method !== "GET" && method !== "DELETE";
}

/** Counts a request. Throws a Fault for a caller who is over a limit. */
export async function countRequest({ server, caller }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (server.countRequest !== undefined) reply.headers(toRateLimitHeaders(await server.countRequest(caller)));
}
