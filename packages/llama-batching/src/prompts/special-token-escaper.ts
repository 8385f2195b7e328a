/**
 * Escapes the texts of control tokens, such as `<|im_end|>`, in text that callers wrote: a marker is inserted into each,
 * and the prompt is split at the markers before it is tokenized. No piece then contains such a text, while the rest of
 * the prompt is tokenized as one text, as the model was trained.
 */
export class SpecialTokenEscaper {
  readonly #anywhere: RegExp | undefined;
  /** A text that ends or begins like this could be completed to a special token by the template around it. */
  readonly #openings: ReadonlySet<string>;
  readonly #closings: ReadonlySet<string>;
  readonly #maxLength: number;

  constructor(texts: readonly string[]) {
    const usable = [...new Set(texts)].filter((text) => text.length > 1).toSorted((a, b) => b.length - a.length);
    // Matches only the first character of a special token, which finds overlapping ones.
    this.#anywhere =
      usable.length === 0 ? undefined : new RegExp(`(?=${usable.map(escapePattern).join("|")})[^]`, "gu");
    this.#openings = new Set(usable.flatMap((text) => splitPoints(text).map((at) => text.slice(0, at))));
    this.#closings = new Set(usable.flatMap((text) => splitPoints(text).map((at) => text.slice(at))));
    this.#maxLength = usable[0]?.length ?? 0;
  }

  /** `marker` must not occur in `text`. */
  escape(text: string, marker: string): string {
    if (this.#anywhere === undefined) return text;
    const inside = text.replace(this.#anywhere, (first) => first + marker);
    const before = this.#edgeLengths(text).some((length) => this.#closings.has(text.slice(0, length))) ? marker : "";
    const after = this.#edgeLengths(text).some((length) => this.#openings.has(text.slice(-length))) ? marker : "";
    return before + inside + after;
  }

  #edgeLengths(text: string): number[] {
    return Array.from({ length: Math.min(this.#maxLength - 1, text.length) }, (_, index) => index + 1);
  }
}

function splitPoints(text: string): number[] {
  return Array.from({ length: text.length - 1 }, (_, index) => index + 1);
}

export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
