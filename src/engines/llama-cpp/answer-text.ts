import type { LlamaModel, Token } from "node-llama-cpp";

/** How many tokens one character may take before its bytes are given up as no character. */
const MOST_PENDING = 16;
/** So many tokens before decide whether a tokenizer puts a space between. */
const RECENT = 4;

/** Turns tokens into text as they come, keeping back the bytes of a character that is not complete yet. */
export class AnswerText {
  readonly #model: LlamaModel;
  #recent: Token[];
  #pending: Token[] = [];
  /** Characters of the pending tokens that have been given out. */
  #given = 0;

  constructor(model: LlamaModel, prompt: readonly Token[]) {
    this.#model = model;
    this.#recent = prompt.slice(-RECENT);
  }

  /** The text that became complete with this token; often "" within emoji. */
  push(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, false, this.#recent);
    const whole = text.replace(/\uFFFD+$/, "");
    if (whole.length < text.length && this.#pending.length < MOST_PENDING) {
      const fresh = whole.slice(this.#given);
      this.#given = Math.max(this.#given, whole.length);
      return fresh;
    }
    return this.#give(text);
  }

  /** What is left at the end, without the bytes that never became a character. */
  end(): string {
    if (this.#pending.length === 0) return "";
    return this.#give(this.#model.detokenize(this.#pending, false, this.#recent).replace(/\uFFFD+$/, ""));
  }

  #give(text: string): string {
    const fresh = text.slice(this.#given);
    this.#recent = [...this.#recent, ...this.#pending].slice(-RECENT);
    this.#pending = [];
    this.#given = 0;
    return fresh;
  }
}
