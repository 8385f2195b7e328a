import { Fault } from "../kernel/faults.ts";

/**
 * Passes on an answer's events and reports their end exactly once: with the failure, or undefined after a normal end.
 * A class, because a generator that is suspended or was never started runs no code when the signal aborts: the slot
 * would stay taken until its reader resumes it. A generator would cost 3 µs more for 66 events, less than 1% of a request.
 */
export class LifecycleIterator<Event> implements AsyncIterableIterator<Event> {
  readonly #source: AsyncIterator<Event>;
  readonly #signal: AbortSignal;
  readonly #end: (failure: unknown) => void;
  #putBack: IteratorResult<Event> | undefined;
  #isAwaited = false;
  #isOver = false;

  constructor(source: AsyncIterable<Event>, signal: AbortSignal, end: (failure: unknown) => void) {
    this.#source = source[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#end = end;
    // Also between two events, when the reader may never come back.
    signal.addEventListener("abort", () => void this.return());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event>> {
    const putBack = this.#putBack;
    if (putBack === undefined) {
      this.#isAwaited = true;
      return this.#source.next().then(this.#onResult, this.#onFailure);
    }
    this.#putBack = undefined;
    return Promise.resolve(putBack);
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#putBack = undefined;
    // A deadline that a slow reader missed does not indicate a failure of the source.
    const hasFailed = this.#signal.aborted && this.#isAwaited;
    try {
      await this.#source.return?.();
    } catch {
      // The reader that waits for the next event gets the failure.
    }
    this.#over(hasFailed ? this.#signal.reason : new Fault("client-left", "The reader left."));
    return { done: true, value: undefined };
  }

  /** Puts a result back for the next call of `next`. */
  putBack(result: IteratorResult<Event>): void {
    this.#putBack = result;
  }

  readonly #onResult = (result: IteratorResult<Event>): IteratorResult<Event> => {
    this.#isAwaited = false;
    // Engines stop without throwing once they are aborted.
    if (result.done) this.#over(this.#signal.aborted ? this.#signal.reason : undefined);
    return result;
  };

  readonly #onFailure = (failure: unknown): never => {
    this.#isAwaited = false;
    this.#over(failure);
    throw failure;
  };

  #over(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end(failure);
  }
}
