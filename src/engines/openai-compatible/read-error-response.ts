import type { Fault } from "../../faults.ts";
import type { Exchange, ResponseHead } from "./exchange.ts";
import { readErrorBody } from "./read-body.ts";
import { parseUpstreamError } from "./upstream-error.ts";
import { errorResponseFault, type FaultContext, retryAfterSeconds } from "./upstream-fault.ts";

/** The Fault for an answer whose status is not 200, also where its body does not come. */
export async function readErrorResponse(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Fault> {
  const error = parseUpstreamError(await readErrorBody(exchange));
  return errorResponseFault(head.status, error, retryAfterSeconds(head.headers), context);
}
