import { DocumentError } from "./document-error.ts";

/** Documents of programs nest some tens of elements; a parser takes time per element that grows with the depth. */
const MAX_DEPTH = 2_000;

/** Counts open elements. Throws a DocumentError beyond the limit. */
export class Nesting {
  #depth = 0;

  open(): void {
    this.#depth += 1;
    if (this.#depth <= MAX_DEPTH) return;
    throw new DocumentError("invalid_file", `The document has elements that are nested more than ${MAX_DEPTH} deep.`);
  }

  close(): void {
    this.#depth -= 1;
  }
}
