const OVER: Promise<IteratorReturnResult<undefined>> = Promise.resolve({ done: true, value: undefined });

/**
 * What is made in one go as a source of events: one, or none when that resolves with undefined. Begun when the event is
 * first asked for. Written out, since an asynchronous generator costs several turns of the microtask queue more.
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
