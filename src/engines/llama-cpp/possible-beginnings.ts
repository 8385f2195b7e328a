/** Texts that are watched for in what comes piece by piece. */
export class PossibleBeginnings {
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Length of the longest end of `text` with which one of the texts begins, short of the whole. */
  atEndOf(text: string): number {
    const longest = Math.max(0, ...this.#texts.map((each) => each.length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length--) {
      const end = text.slice(-length);
      if (this.#texts.some((each) => each.startsWith(end))) return length;
    }
    return 0;
  }
}
