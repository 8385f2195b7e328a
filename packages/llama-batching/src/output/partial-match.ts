/** Detects the beginning of given texts at the end of streamed text. */
export class PartialMatcher {
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Length of the longest suffix of `text` that is a proper prefix of one of the texts. */
  partialLength(text: string): number {
    const maxLength = Math.max(0, ...this.#texts.map((each) => each.length - 1));
    for (let length = Math.min(maxLength, text.length); length > 0; length--) {
      const end = text.slice(-length);
      if (this.#texts.some((each) => each.startsWith(end))) return length;
    }
    return 0;
  }
}
