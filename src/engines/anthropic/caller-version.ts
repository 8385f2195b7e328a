import type { CallerHeaders } from "../../contracts/open-model.ts";

const VERSION_HEADER = "anthropic-version";

/** Returns the version whose answers the caller reads: those of forwarded requests are not rendered again. */
export function callerVersion(headers: CallerHeaders = {}): Record<string, string> {
  const version = headers[VERSION_HEADER];
  return typeof version === "string" && version !== "" ? { [VERSION_HEADER]: version } : {};
}
