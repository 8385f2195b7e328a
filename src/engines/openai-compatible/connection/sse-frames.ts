/**
 * Cuts the bytes of an event stream into complete frames (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 *
 * Text is handled as one character for each byte (latin1): JavaScript searches such strings without leaving the engine,
 * and writing them back gives the same bytes.
 */

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

export class FrameTooLongError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`an event is longer than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

export class SseFrames {
  readonly #maxFrameBytes: number;
  /** The beginning of a frame whose end has not come, in the pieces in which it came. */
  #pending: string[] = [];
  #pendingLength = 0;
  #endsWithLineFeed = false;
  #endsWithCarriageReturn = false;
  #isFirst = true;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /**
   * Complete frames, each ended by `\n\n`, whichever line ends they came with; "" while none is complete.
   * Throws FrameTooLongError.
   */
  push(chunk: Buffer): string {
    let text = this.#normalize(chunk.toString("latin1"));
    if (text === "") return "";
    if (this.#isFirst && this.#pendingLength + text.length >= BYTE_ORDER_MARK.length) {
      text = this.#takePending() + text;
      if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
      this.#isFirst = false;
    }
    // Only the new piece is searched: a long frame in many pieces would otherwise be rescanned with each.
    const end = text.lastIndexOf("\n\n");
    if (end >= 0) return this.#cut(text, end + 2);
    if (this.#endsWithLineFeed && text.startsWith("\n")) return this.#cut(text, 1);
    this.#keep(text);
    return "";
  }

  #cut(text: string, end: number): string {
    const complete = this.#takePending() + text.slice(0, end);
    this.#keep(text.slice(end));
    return complete;
  }

  #keep(text: string): void {
    if (text === "") return;
    this.#pending.push(text);
    this.#pendingLength += text.length;
    this.#endsWithLineFeed = text.endsWith("\n");
    if (this.#pendingLength > this.#maxFrameBytes) throw new FrameTooLongError(this.#maxFrameBytes);
  }

  #takePending(): string {
    if (this.#pendingLength === 0) return "";
    const text = this.#pending.join("");
    this.#pending = [];
    this.#pendingLength = 0;
    this.#endsWithLineFeed = false;
    return text;
  }

  /** JSON holds no raw carriage return, so each one here ends a line. */
  #normalize(text: string): string {
    let normal = this.#endsWithCarriageReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endsWithCarriageReturn = text.endsWith("\r");
    if (normal.includes("\r")) normal = normal.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    return normal;
  }
}
