/** Passes on the events of an answer and records them, at the engine's pace rather than the client's. */

import { sizeOf } from "./recorded-answer.ts";

export interface RecorderOptions<Event> {
  source: AsyncIterator<Event>;
  /** Approximate size above which an answer is not recorded. */
  maxBytes: number;
  /** Called once: with all events of a complete answer, otherwise with undefined. */
  onRecorded: (events: readonly Event[] | undefined) => void;
  /** Called when the reader leaves early; calls `abandon` once nobody waits for the answer. */
  onLeft: (abandon: () => void) => void;
}

/**
 * A class for the same reason as `LifecycleIterator`. Once an answer is too large, events are read at the client's pace.
 */
export class Recorder<Event> implements AsyncIterableIterator<Event> {
  readonly #options: RecorderOptions<Event>;
  /** Events that the client has not read. */
  readonly #unread: Event[] = [];
  #recorded: Event[] | undefined = [];
  #bytes = 0;
  #end: { failure: unknown } | undefined;
  #hasReader = true;
  /** Wakes the reader that waits for an event, and the pump that waits for the reader. */
  #onEvent: (() => void) | undefined;
  #onRead: (() => void) | undefined;

  constructor(options: RecorderOptions<Event>) {
    this.#options = options;
    void this.#pump();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Event>> {
    while (this.#unread.length === 0 && this.#end === undefined) {
      this.#onRead?.();
      await new Promise<void>((resolve) => {
        this.#onEvent = resolve;
      });
    }
    if (this.#unread.length > 0) return { done: false, value: this.#unread.shift() as Event };
    const failure = this.#end?.failure;
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#hasReader = false;
    this.#unread.length = 0;
    if (this.#end === undefined) this.#options.onLeft(() => this.#abandon());
    return { done: true, value: undefined };
  }

  async #pump(): Promise<void> {
    const { source } = this.#options;
    try {
      for (;;) {
        if (this.#recorded === undefined) await this.#readerWaits();
        const { done, value } = await source.next();
        if (done === true) break;
        if (this.#hasReader) this.#unread.push(value);
        this.#record(value);
        this.#onEvent?.();
      }
      this.#end = { failure: undefined };
      this.#finish(this.#recorded);
    } catch (failure) {
      this.#end = { failure };
      this.#finish(undefined);
    }
    this.#onEvent?.();
  }

  #record(event: Event): void {
    if (this.#recorded === undefined) return;
    this.#recorded.push(event);
    this.#bytes += sizeOf(event);
    if (this.#bytes <= this.#options.maxBytes) return;
    this.#finish(undefined);
    if (!this.#hasReader) this.#abandon();
  }

  async #readerWaits(): Promise<void> {
    while (this.#hasReader && this.#unread.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve;
      });
    }
  }

  #finish(events: readonly Event[] | undefined): void {
    const { onRecorded } = this.#options;
    const isFirst = this.#recorded !== undefined;
    this.#recorded = undefined;
    if (isFirst) onRecorded(events);
  }

  #abandon(): void {
    this.#onRead?.();
    void this.#options.source.return?.().catch(() => {});
  }
}
