/**
 * Texts that stand for control tokens, such as `<|im_end|>`. In what a caller wrote they are ordinary text, so they are
 * broken up with a marker at which the prompt is cut before it becomes tokens: no piece then holds such a text.
 * The rest of the prompt becomes tokens as one text, as the model was trained.
 */
export class SpecialTexts {
  readonly #anywhere: RegExp | undefined;
  /** Where a text ends or begins like this, what a template puts beside it could complete a special text. */
  readonly #openings: ReadonlySet<string>;
  readonly #closings: ReadonlySet<string>;
  readonly #longest: number;

  constructor(texts: readonly string[]) {
    const usable = [...new Set(texts)].filter((text) => text.length > 1).toSorted((a, b) => b.length - a.length);
    // Matches the one character at which a special text begins, so that overlapping ones are all found.
    this.#anywhere =
      usable.length === 0 ? undefined : new RegExp(`(?=${usable.map(escapePattern).join("|")})[^]`, "gu");
    this.#openings = new Set(usable.flatMap((text) => cuts(text).map((at) => text.slice(0, at))));
    this.#closings = new Set(usable.flatMap((text) => cuts(text).map((at) => text.slice(at))));
    this.#longest = usable[0]?.length ?? 0;
  }

  /** `marker` must not occur in `text`. */
  breakUp(text: string, marker: string): string {
    if (this.#anywhere === undefined) return text;
    const inside = text.replace(this.#anywhere, (first) => first + marker);
    const before = this.#endsOf(text).some((length) => this.#closings.has(text.slice(0, length))) ? marker : "";
    const after = this.#endsOf(text).some((length) => this.#openings.has(text.slice(-length))) ? marker : "";
    return before + inside + after;
  }

  #endsOf(text: string): number[] {
    return Array.from({ length: Math.min(this.#longest - 1, text.length) }, (_, index) => index + 1);
  }
}

function cuts(text: string): number[] {
  return Array.from({ length: text.length - 1 }, (_, index) => index + 1);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
