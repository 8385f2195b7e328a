/** What a request asks of the cache: RFC 9111, section 5.2.1, and `x-parlance-cache`. */

import type { CallerHeaders } from "../../contracts/open-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";

export interface CacheDirectives {
  /** `x-parlance-cache`; undefined: as the model's settings say. */
  use: "on" | "off" | undefined;
  /** Whether a stored answer may be used. */
  reads: boolean;
  /** Whether the answer may be stored. */
  stores: boolean;
  /** Maximum age of a stored answer in seconds. */
  maxAgeSeconds: number;
  /** Whether the request is for a stored answer only. */
  onlyIfCached: boolean;
}

export const NO_DIRECTIVES: CacheDirectives = {
  use: undefined,
  reads: true,
  stores: true,
  maxAgeSeconds: Number.POSITIVE_INFINITY,
  onlyIfCached: false,
};

/** Throws a Fault for a value of `x-parlance-cache` other than `on` and `off`. */
export function readCacheDirectives(headers: CallerHeaders | undefined): CacheDirectives {
  const control = headers?.["cache-control"];
  const use = useOf(headers?.["x-parlance-cache"]);
  if (control === undefined) return use === undefined ? NO_DIRECTIVES : { ...NO_DIRECTIVES, use };
  const directives = { ...NO_DIRECTIVES, use };
  for (const part of [control].flat().join(",").split(",")) {
    const [name = "", value = ""] = part.trim().toLowerCase().split("=", 2);
    if (name === "no-cache") directives.reads = false;
    else if (name === "no-store") directives.stores = false;
    else if (name === "only-if-cached") directives.onlyIfCached = true;
    else if (name === "max-age") directives.maxAgeSeconds = toSeconds(value);
  }
  // Ages are whole seconds: an answer of the same second would be young enough.
  if (directives.maxAgeSeconds === 0) directives.reads = false;
  return directives;
}

function useOf(header: string | readonly string[] | undefined): CacheDirectives["use"] {
  const value = typeof header === "string" ? header.trim().toLowerCase() : header;
  if (value === undefined || value === "on" || value === "off") return value;
  throw invalidRequest("The header 'x-parlance-cache' must be on or off.", "x-parlance-cache", "invalid_value");
}

/** RFC 9111, section 4.2.1: an invalid age is a stale one. */
function toSeconds(value: string): number {
  const digits = /^"?(\d+)"?$/.exec(value)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
