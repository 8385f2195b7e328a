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
    const text = new TextDecoder().decode(this.#last);
    const numbers = [...text.matchAll(/"sequence_number": ?(\d{1,9})\b/g)].map(([, number]) => Number(number));
    return Math.max(-1, ...numbers) + 1;
  }
}
