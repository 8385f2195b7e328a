import { parseEvents } from "../../kernel/server-sent-events.ts";

/** Follows the sequence numbers of forwarded events, which an event of this service continues. */
export class SequenceNumbers {
  #last: Uint8Array | undefined;

  async *follow(frames: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    for await (const frame of frames) {
      this.#last = typeof frame === "string" ? Buffer.from(frame) : frame;
      yield frame;
    }
  }

  /** The number of the next event. */
  get next(): number {
    const events = parseEvents(this.#last ?? "").map(({ data }) => JSON.parse(data) as { sequence_number?: unknown });
    const numbers = events.flatMap(({ sequence_number: number }) => (typeof number === "number" ? [number] : []));
    return Math.max(-1, ...numbers) + 1;
  }
}
