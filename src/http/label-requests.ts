import type { FastifyInstance } from "fastify";
import type { Callers } from "../features/accounts/callers.ts";
import type { LabelReader } from "../features/usage/request-labels.ts";

/** Adds end user, tags and session to the callers of a scope's requests. Without a reader, requests cost nothing more. */
export function labelRequests(
  scope: FastifyInstance,
  read: LabelReader | undefined,
  callers: Pick<Callers, "withLabels">,
): void {
  if (read === undefined) return;
  scope.addHook("preHandler", (request, _reply, done) => {
    const labels = read(request.headers, request.body);
    if (labels !== undefined)
      request.caller = callers.withLabels(request.caller, { ...request.caller.labels, ...labels });
    done();
  });
}
