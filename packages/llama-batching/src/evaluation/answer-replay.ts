import type { Token } from "node-llama-cpp";

/** An answer's evaluated tokens, in their batches: evaluated again, they round the same only in the same batches. */
export class AnswerReplay {
  readonly #batches: Token[][] = [];
  #position = 0;

  /** Whether a batch waits for its repetition. */
  get isPending(): boolean {
    return this.#position < this.#batches.length;
  }

  /** Tokens of the batch that `next` returns. */
  get pendingTokens(): number {
    return this.#batches[this.#position]?.length ?? 0;
  }

  record(tokens: Token[]): void {
    this.#batches.push(tokens);
    this.#position = this.#batches.length;
  }

  /** Begins with the first batch again. */
  restart(): void {
    this.#position = 0;
  }

  /** Returns the next batch. Call only while one is pending. */
  next(): readonly Token[] {
    const batch = this.#batches[this.#position] as Token[];
    this.#position += 1;
    return batch;
  }
}
