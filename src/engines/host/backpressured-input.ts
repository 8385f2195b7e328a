import { decodeFailure, type EncodedFailure } from "./messages.ts";

/** A call's input stream, pulled one item at a time: a long recording is never in the memory of both processes. */
export class BackpressuredInput {
  readonly #pull: () => void;
  #waiting: PromiseWithResolvers<IteratorResult<unknown, undefined>> | undefined;

  constructor(pull: () => void) {
    this.#pull = pull;
  }

  push(item: unknown): void {
    this.#waiting?.resolve({ done: false, value: item });
  }

  end(failure: EncodedFailure | undefined): void {
    if (failure === undefined) this.#waiting?.resolve({ done: true, value: undefined });
    else this.#waiting?.reject(decodeFailure(failure));
  }

  async *read(): AsyncGenerator<unknown, void> {
    for (;;) {
      this.#waiting = Promise.withResolvers();
      this.#pull();
      const next = await this.#waiting.promise;
      if (next.done) return;
      yield next.value;
    }
  }
}
