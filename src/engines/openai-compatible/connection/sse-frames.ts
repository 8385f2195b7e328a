/**
 * Cuts the bytes of an event stream that is forwarded into complete frames
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Streams that are only read have an `EventReader`.
 *
 * Text is handled as one character for each byte (latin1): JavaScript searches such strings without leaving the engine,
 * and writing them back gives the same bytes.
 */

import { EventTooLongError } from "../../../kernel/server-sent-events.ts";

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

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
   * Throws an EventTooLongError.
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

  /** Like `push`, for several chunks. */
  pushAll(chunks: readonly Buffer[]): string {
    let frames = "";
    for (const chunk of chunks) frames += this.push(chunk);
    return frames;
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
    if (this.#pendingLength > this.#maxFrameBytes) throw new EventTooLongError(this.#maxFrameBytes);
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

/** Fields of a complete frame. A space stands for the line end between lines of data: in JSON, both are white space. */
export function readFrame(frame: string): { event: string | undefined; data: string | undefined } {
  let event: string | undefined;
  let data: string | undefined;
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") event = value;
    else if (name === "data") data = data === undefined ? value : `${data} ${value}`;
  }
  return { event, data: data?.trim() };
}

export function toLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

export function fromLatin1(text: string): string {
  return Buffer.from(text, "latin1").toString();
}
