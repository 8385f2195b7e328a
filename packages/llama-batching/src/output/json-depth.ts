/** Follows the strings, lists and objects of JSON text, character by character. */
export class JsonDepth {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Whether the text so far is outside of strings, lists and objects. */
  get isAtTop(): boolean {
    return this.#depth === 0 && !this.#isInString;
  }

  push(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '"') this.#isInString = !this.#isInString;
    else if (this.#isInString) this.#isEscaped = character === "\\";
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") this.#depth -= 1;
  }
}
