/** Hash of everything that determines an answer. */

import { createHash, type Hash } from "node:crypto";

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

/** Characters from which a string is hashed by itself: writing it as JSON takes longer than hashing it. */
const LONG_STRING = 2048;
const FLUSH_LENGTH = 32_768;

export function toCacheKey({ scopeId, model, version, headers, parts }: KeyFacts): string {
  const sortedHeaders = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  const writer = new HashWriter();
  writer.write([FORMAT, scopeId, model, version, sortedHeaders, parts]);
  return writer.digest();
}

/** Hashes a JSON value. No two values have the same text: each long string follows its length. */
class HashWriter {
  readonly #hash: Hash = createHash("sha256");
  #text = "";

  write(value: unknown): void {
    if (typeof value === "string") this.#writeString(value);
    else if (Array.isArray(value)) {
      this.#text += "[";
      for (const each of value) {
        this.write(each);
        this.#text += ",";
      }
      this.#text += "]";
    } else if (typeof value === "object" && value !== null) {
      this.#text += "{";
      for (const [key, each] of Object.entries(value)) {
        if (each === undefined) continue;
        this.#text += JSON.stringify(key);
        this.write(each);
      }
      this.#text += "}";
    } else this.#text += String(value);
    if (this.#text.length > FLUSH_LENGTH) this.#flush();
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest("base64url");
  }

  /** UTF-8 has no lone surrogates, which JSON escapes. */
  #writeString(value: string): void {
    if (value.length < LONG_STRING || !value.isWellFormed()) {
      this.#text += JSON.stringify(value);
      return;
    }
    this.#text += `${value.length}:`;
    this.#flush();
    this.#hash.update(value);
  }

  #flush(): void {
    this.#hash.update(this.#text);
    this.#text = "";
  }
}
