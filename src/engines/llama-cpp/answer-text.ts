import type { LlamaModel, Token } from "node-llama-cpp";

/** How many tokens one character may take before its bytes are given up as no character. */
const MOST_PENDING = 16;
/** So many tokens before decide whether a tokenizer puts a space between. */
const RECENT = 4;

/** Turns tokens into text as they come, keeping back the bytes of a character that is not complete yet. */
export class AnswerText {
  readonly #model: LlamaModel;
  readonly #silent: ReadonlySet<Token>;
  #recent: Token[];
  #pending: Token[] = [];
  /** Characters of the pending tokens that have been given out. */
  #given = 0;

  /** Of control tokens, those that are not `silent` are written out. */
  constructor(model: LlamaModel, prompt: readonly Token[], silent: ReadonlySet<Token>) {
    this.#model = model;
    this.#silent = silent;
    this.#recent = prompt.slice(-RECENT);
  }

  /** The text that became complete with this token; often "" within emoji. */
  push(token: Token): string {
    if (this.#silent.has(token)) return "";
    this.#pending.push(token);
    const text = this.#read();
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
    return this.#give(this.#read().replace(/\uFFFD+$/, ""));
  }

  #read(): string {
    const hasMarks = this.#pending.some((token) => this.#model.getTokenAttributes(token).control);
    return this.#model.detokenize(this.#pending, hasMarks, this.#recent);
  }

  #give(text: string): string {
    const fresh = text.slice(this.#given);
    this.#recent = [...this.#recent, ...this.#pending].slice(-RECENT);
    this.#pending = [];
    this.#given = 0;
    return fresh;
  }
}
