const OVER: Promise<IteratorReturnResult<undefined>> = Promise.resolve({ done: true, value: undefined });

/**
 * Async iterator over a single result: yields one event, or none when `make` resolves with undefined. Calls `make` when
 * the event is first requested. Written by hand because an async generator takes several more microtask turns.
 */
export class SingleEventStream<Event> implements AsyncIterableIterator<Event> {
  #make: (() => Promise<Event | undefined>) | undefined;

  constructor(make: () => Promise<Event | undefined>) {
    this.#make = make;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event>> {
    const make = this.#make;
    this.#make = undefined;
    return make === undefined ? OVER : make().then(toResult);
  }

  return(): Promise<IteratorResult<Event>> {
    this.#make = undefined;
    return OVER;
  }
}

function toResult<Event>(event: Event | undefined): IteratorResult<Event> {
  return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
}
