import type { IncomingHttpHeaders } from "node:http";
import { KEY_HEADERS } from "../../contracts/key-headers.ts";
import { FORWARDED_HEADER } from "../forwarded-address.ts";

/** Headers of the handshake itself, of its connection, or with a credential. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["host", "connection", "upgrade", "keep-alive", "te", "trailer", "expect", "via", "forwarded"],
  ...["accept-encoding", "content-encoding", "content-length", "content-type", "transfer-encoding"],
  ...["authorization", "cookie", "proxy-authorization", FORWARDED_HEADER, ...KEY_HEADERS],
  // It names one request, and a connection has many.
  "idempotency-key",
]);

/** Returns the headers of a handshake that apply to what its connection sends. */
export function headersOfMessages(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const entries = Object.entries(headers).filter(
    ([name]) => !OWN_HEADERS.has(name) && !/^(sec-websocket-|x-forwarded-)/.test(name),
  );
  return Object.fromEntries(entries);
}
