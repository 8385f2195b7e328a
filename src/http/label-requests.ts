import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import type { RequestLabels } from "../kernel/usage.ts";

/** Reads what a request belongs to; undefined: nothing. */
export type LabelReader = (headers: IncomingHttpHeaders, body: unknown, caller: Caller) => RequestLabels | undefined;

/** Adds end user, tags and session to the callers of a scope's requests. Without a reader, requests cost nothing more. */
export function labelRequests(
  scope: FastifyInstance,
  read: LabelReader | undefined,
  callers: { withLabels(caller: Caller, labels: RequestLabels): Caller },
): void {
  if (read === undefined) return;
  scope.addHook("preHandler", (request, _reply, done) => {
    const labels = read(request.headers, request.body, request.caller);
    if (labels !== undefined)
      request.caller = callers.withLabels(request.caller, { ...request.caller.labels, ...labels });
    done();
  });
}
