/** Hash of everything that determines an answer. */

import { createHash } from "node:crypto";

export interface KeyFacts {
  /** Project, or the organization whose projects share answers. */
  scopeId: string;
  /** Resolved catalog ID. */
  model: string;
  /** `ModelCache.version`. */
  version: string;
  /** Headers of the caller that reach an upstream. */
  headers: Readonly<Record<string, string>>;
  /** `CacheParts.parts`. */
  parts: unknown;
}

/** Increased when the same parts mean another answer, or stored answers can no longer be read. */
const FORMAT = 1;

export function toCacheKey({ scopeId, model, version, headers, parts }: KeyFacts): string {
  const sortedHeaders = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([FORMAT, scopeId, model, version, sortedHeaders, parts]);
  return createHash("sha256").update(text).digest("base64url");
}
