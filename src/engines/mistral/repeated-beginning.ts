/** Leaves out the beginning of an answer, which the API repeats from the message with `prefix`; another text is kept. */
export class RepeatedBeginning {
  #expected: string;
  #held = "";

  constructor(text: string) {
    this.#expected = text;
  }

  /** Returns what follows the beginning; "" while it is not complete. */
  push(text: string): string {
    if (this.#expected === "") return text;
    this.#held += text;
    if (this.#held.length < this.#expected.length && this.#expected.startsWith(this.#held)) return "";
    const rest = this.#held.startsWith(this.#expected) ? this.#held.slice(this.#expected.length) : this.#held;
    this.#expected = "";
    this.#held = "";
    return rest;
  }

  /** Returns a text that turned out not to be the beginning, as it ends before that. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }
}
