/** Reads server-sent events. Bytes that are forwarded are cut into frames instead, by `SseFrames`. */

import { createParser, type EventSourceMessage } from "eventsource-parser";

export class EventTooLongError extends Error {
  constructor(maxLength: number) {
    super(`an event is longer than ${maxLength} bytes`);
  }
}

export class EventReader {
  readonly #parser: ReturnType<typeof createParser>;
  readonly #decoder = new TextDecoder();
  #events: EventSourceMessage[] = [];
  #hasComment = false;

  /** `maxLength`: UTF-16 code units of one event. */
  constructor(maxLength?: number) {
    this.#parser = createParser({
      onEvent: (event) => void this.#events.push(event),
      onComment: () => {
        this.#hasComment = true;
      },
      onError: ({ type }) => {
        if (maxLength !== undefined && type === "max-buffer-size-exceeded") throw new EventTooLongError(maxLength);
      },
      maxBufferSize: maxLength,
    });
  }

  /**
   * Returns the events that `chunk` completes; undefined when it completes neither an event nor a comment. Throws an
   * EventTooLongError.
   */
  read(chunk: Uint8Array): readonly EventSourceMessage[] | undefined {
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    if (this.#events.length === 0 && !this.#hasComment) return undefined;
    this.#hasComment = false;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Returns the events of a complete stream. */
export function parseEvents(stream: Uint8Array | string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  parser.feed(typeof stream === "string" ? stream : new TextDecoder().decode(stream));
  return events;
}
