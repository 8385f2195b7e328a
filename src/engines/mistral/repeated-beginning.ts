/** Leaves out the beginning of an answer, which the API repeats from the message with `prefix`; another text is kept. */
export class RepeatedBeginning {
  readonly #expected: string;
  /** Characters that were repeated so far; undefined once the beginning is over. */
  #repeated: number | undefined = 0;

  constructor(text: string) {
    this.#expected = text;
  }

  /** Returns what follows the beginning; "" while it is not complete. */
  push(text: string): string {
    if (this.#repeated === undefined) return text;
    const missing = this.#expected.length - this.#repeated;
    if (text.length < missing && this.#expected.startsWith(text, this.#repeated)) {
      this.#repeated += text.length;
      return "";
    }
    const isRepeated = text.length >= missing && this.#expected.endsWith(text.slice(0, missing));
    return isRepeated ? this.#finish(text.slice(missing)) : this.end() + text;
  }

  /** Returns a text that turned out not to be the beginning, as it ends before that. */
  end(): string {
    return this.#finish(this.#expected.slice(0, this.#repeated ?? 0));
  }

  #finish(rest: string): string {
    this.#repeated = undefined;
    return rest;
  }
}
