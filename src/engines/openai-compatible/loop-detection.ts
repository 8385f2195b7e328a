/** Detects routing loops: marks forwarded requests and refuses one that comes back to the process that sent it. */

import { randomBytes } from "node:crypto";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { Fault } from "../../kernel/faults.ts";

/** As RFC 9110 (7.6.3) has it: a protocol and a pseudonym. Of this process, since replicas may be each other's upstreams. */
const OWN_MARK = `1.1 parlance-${randomBytes(9).toString("base64url")}`;
const MARK = /^1\.1 parlance-[\w-]{12}$/;
/** More forwarding hops than any intended setup. */
const MAX_MARKS = 10;

/**
 * The Via header of what is sent for a request that came with these headers: the marks of every Parlance on its way, and
 * no other proxy's. Throws a Fault when this process is among them.
 */
export function viaHeader(callerHeaders: CallerHeaders | undefined, deployment: string): string {
  if (callerHeaders?.via === undefined) return OWN_MARK;
  const received = [callerHeaders.via].flat().join(",");
  const marks = received.split(",").flatMap((each) => MARK.exec(each.trim()) ?? []);
  if (marks.includes(OWN_MARK) || marks.length >= MAX_MARKS) {
    const message = `The upstream of \`${deployment}\` leads back to this service: the request would loop forever.`;
    throw new Fault("upstream-refused", message, { code: "upstream_error", isFinal: true });
  }
  return [...marks, OWN_MARK].join(", ");
}
