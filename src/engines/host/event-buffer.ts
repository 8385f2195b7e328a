/**
 * Keeps what comes until it is read, so that a slow reader never holds back the one who writes. One reader.
 * Bounded by what one request can make.
 */
export class EventBuffer<Event> {
  #events: Event[] = [];
  #end: { failure: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  push(event: Event): void {
    this.#events.push(event);
    this.#wake?.();
  }

  /** With a failure, that is thrown once all before it has been read. Only the first call counts. */
  end(failure?: Error): void {
    this.#end ??= { failure };
    this.#wake?.();
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  async *read(): AsyncGenerator<Event, void> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      yield* events;
      if (this.#events.length > 0) continue;
      if (this.#end !== undefined) {
        if (this.#end.failure !== undefined) throw this.#end.failure;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
