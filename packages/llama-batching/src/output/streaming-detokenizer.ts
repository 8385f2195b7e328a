import type { LlamaModel, Token } from "node-llama-cpp";

/** Tokens after which an incomplete character is emitted as invalid. */
const MAX_PENDING_TOKENS = 16;
/** Preceding tokens that decide whether the tokenizer inserts a space. */
const CONTEXT_TOKENS = 4;

/** Converts tokens to text one by one and holds back the bytes of incomplete characters. */
export class StreamingDetokenizer {
  readonly #model: LlamaModel;
  readonly #hiddenTokens: ReadonlySet<Token>;
  #recent: Token[];
  #pending: Token[] = [];
  /** Characters of the pending tokens that were already emitted. */
  #emitted = 0;

  /** Control tokens not among `hiddenTokens` are written out. */
  constructor(model: LlamaModel, prompt: readonly Token[], hiddenTokens: ReadonlySet<Token>) {
    this.#model = model;
    this.#hiddenTokens = hiddenTokens;
    this.#recent = prompt.slice(-CONTEXT_TOKENS);
  }

  /** Returns the text that this token completed; often "" within emoji. */
  push(token: Token): string {
    if (this.#hiddenTokens.has(token)) return "";
    this.#pending.push(token);
    const text = this.#read();
    const complete = text.replace(/\uFFFD+$/, "");
    if (complete.length < text.length && this.#pending.length < MAX_PENDING_TOKENS) {
      const fresh = complete.slice(this.#emitted);
      this.#emitted = Math.max(this.#emitted, complete.length);
      return fresh;
    }
    return this.#emit(text);
  }

  /** Returns the remaining text, without the bytes of an incomplete character. */
  end(): string {
    if (this.#pending.length === 0) return "";
    return this.#emit(this.#read().replace(/\uFFFD+$/, ""));
  }

  #read(): string {
    const hasControl = this.#pending.some((token) => this.#model.getTokenAttributes(token).control);
    return this.#model.detokenize(this.#pending, hasControl, this.#recent);
  }

  #emit(text: string): string {
    const fresh = text.slice(this.#emitted);
    this.#recent = [...this.#recent, ...this.#pending].slice(-CONTEXT_TOKENS);
    this.#pending = [];
    this.#emitted = 0;
    return fresh;
  }
}
