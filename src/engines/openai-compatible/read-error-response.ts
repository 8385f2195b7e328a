import type { Fault } from "../../kernel/faults.ts";
import type { Exchange, ResponseHead } from "./connection/exchange.ts";
import { readErrorBody } from "./connection/read-body.ts";
import { parseUpstreamError } from "./upstream-error.ts";
import { errorResponseFault, type FaultContext, retryAfterSeconds } from "./upstream-fault.ts";

/** Creates the Fault for a status other than 200, even if the body does not arrive. */
export async function readErrorResponse(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Fault> {
  const error = parseUpstreamError(await readErrorBody(exchange));
  return errorResponseFault(head.status, error, retryAfterSeconds(head.headers), context);
}
