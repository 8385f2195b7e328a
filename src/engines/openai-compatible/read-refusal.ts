import type { Fault } from "../../faults.ts";
import type { Exchange, ResponseHead } from "./exchange.ts";
import { readErrorBody } from "./read-body.ts";
import { upstreamErrorIn } from "./upstream-error.ts";
import { type FaultContext, refusalFault, retryAfterSeconds } from "./upstream-fault.ts";

/** The Fault for an answer whose status is not 200, also where its body does not come. */
export async function readRefusal(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Fault> {
  const error = upstreamErrorIn(await readErrorBody(exchange));
  return refusalFault(head.status, error, retryAfterSeconds(head.headers), context);
}
