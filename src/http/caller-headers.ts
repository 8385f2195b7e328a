import type { IncomingHttpHeaders } from "node:http";

/** What an engine may pass on of a caller's headers; the key is Parlance's own, and goes nowhere. */
export function callerHeaders({ headers }: { headers: IncomingHttpHeaders }): IncomingHttpHeaders {
  const { authorization: _secret, ...others } = headers;
  return others;
}
