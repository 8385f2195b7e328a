/** Selects which of a caller's headers are forwarded to an upstream; by default none. */

import { KEY_HEADERS } from "../../../contracts/key-headers.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";

/** Headers that belong to Parlance or to one connection, or contain the caller's secret. */
export const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  "host",
  "authorization",
  ...KEY_HEADERS,
  "sec-websocket-protocol",
  "cookie",
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "expect",
  "accept",
  "accept-encoding",
  "content-encoding",
  "content-length",
  "content-type",
]);

export interface ForwardRules {
  /** Names in lower case; a trailing `*` matches any suffix. */
  forward: readonly string[];
  /** Takes precedence over `forward`. */
  strip: readonly string[];
}

/** `headers` have names in lower case, as Node gives them. */
export function forwardedHeaders(
  { forward, strip }: ForwardRules,
  headers: CallerHeaders = {},
): Record<string, string> {
  if (forward.length === 0) return {};
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NEVER_FORWARDED.has(name) || matches(strip, name) || !matches(forward, name)) continue;
    forwarded[name] = typeof value === "string" ? value : value.join(", ");
  }
  return forwarded;
}

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}
