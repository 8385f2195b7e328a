import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { ContentReference } from "../../wire/content-references.ts";

const MAX_REFERENCES = 100;

/** Counts what one request refers to. */
export class ContentBounds {
  readonly #maxBytes: number;
  readonly #hold: (bytes: number) => void;
  #bytes = 0;
  #references = 0;

  constructor(maxBytes: number, hold: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  get remainingBytes(): number {
    return this.#maxBytes - this.#bytes;
  }

  /** Throws a Fault above the limit. */
  addReferences(references: readonly ContentReference[]): void {
    this.#references += references.length;
    if (this.#references <= MAX_REFERENCES) return;
    const message = `The request refers to more than ${MAX_REFERENCES} files and addresses. Send fewer.`;
    throw invalidRequest(message, references.at(-1)?.param, "invalid_value");
  }

  /** Throws a Fault above the limit. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) {
      const message = `The files and addresses of the request have more than ${this.#maxBytes} bytes, the limit of server.max_body_bytes.`;
      throw new Fault("body-too-large", message, { code: "request_too_large" });
    }
    this.#hold(this.#bytes);
  }
}
