/** The line of the log and the entry of the history of a mirrored chat. */

import { toHistoryEntry } from "../http/history-entry.ts";
import type { EndedRequest } from "../http/request-log.ts";
import type { MirroredChat } from "../inference/mirrors.ts";
import type { Logger } from "../kernel/logger.ts";

/** Operation of such entries, which no path has. */
const OPERATION = "mirror";
/** The status that a client would have got, roughly: nobody did. */
const STATUS = { finished: 200, "client-left": 499, failed: 502 } as const;

/** Returns the request for the history; undefined for one outside a project. */
export function recordMirrored(chat: MirroredChat, logger: Logger): EndedRequest | undefined {
  const { id, caller, beganAt, settlement, failure, recording } = chat;
  const { requestedModel: model, outcome, used } = settlement;
  const durationMs = Math.round(performance.now() - beganAt);
  const status = STATUS[outcome];
  const { projectId, keyId } = caller;
  logger.info({
    ...{ requestId: id, operation: OPERATION, projectId, keyId, model, status, outcome, durationMs },
    answeredBy: settlement.model,
    deployment: settlement.deployment,
    promptTokens: used.promptTokens,
    completionTokens: used.completionTokens,
    msg: "mirrored request",
  });
  const request = { id, caller, operation: OPERATION, model, status, beganAt, durationMs, failure };
  // What it cost is not the caller's to pay, and sums of the history would say so.
  const free = { ...settlement, costNanoDollars: null, costParts: undefined, comparedCostNanoDollars: null };
  const entry = toHistoryEntry({ ...request, guardrails: undefined, settlement: free });
  return entry && { entry, caller, recording, body: undefined };
}
