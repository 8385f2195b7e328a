/** Decodes application/vnd.amazon.eventstream: messages with typed headers, a payload and checksums. */

import { crc32 } from "node:zlib";
import type { EventFraming } from "../native-upstream/native-events.ts";
import { MAX_FRAME_BYTES } from "../openai-compatible/chat/frame-sink.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";

/** Lengths of the message and its headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const STRING_TYPE = 7;
/** Sizes of values by the number of their type; types 6 and 7 have their length in front. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

/** Name in front of the type of an exception, in place of an event's. */
export const EXCEPTION = "exception:";

export class EventStream implements EventFraming {
  #pending: Buffer = Buffer.alloc(0);

  /** Throws an UpstreamError for bytes that are not such a stream. */
  read(chunk: Buffer): { event: string; data: string }[] | undefined {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const events: { event: string; data: string }[] = [];
    while (this.#pending.length >= PRELUDE_BYTES) {
      const length = this.#pending.readUInt32BE(0);
      const headersLength = this.#pending.readUInt32BE(4);
      const isWhole = length >= PRELUDE_BYTES + headersLength + CHECKSUM_BYTES && length <= MAX_FRAME_BYTES;
      if (!isWhole || crc32(this.#pending.subarray(0, 8)) !== this.#pending.readUInt32BE(8)) throw broken();
      if (this.#pending.length < length) break;
      const message = this.#pending.subarray(0, length);
      const end = length - CHECKSUM_BYTES;
      if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw broken();
      const headers = readHeaders(message.subarray(PRELUDE_BYTES, PRELUDE_BYTES + headersLength));
      events.push(toEvent(headers, message.toString("utf8", PRELUDE_BYTES + headersLength, end)));
      this.#pending = this.#pending.subarray(length);
    }
    return events.length === 0 ? undefined : events;
  }
}

function toEvent(headers: ReadonlyMap<string, string>, payload: string): { event: string; data: string } {
  const exception = headers.get(":exception-type") ?? headers.get(":error-code");
  if (exception === undefined) return { event: headers.get(":event-type") ?? "", data: payload };
  const message = headers.get(":error-message");
  return { event: EXCEPTION + exception, data: message === undefined ? payload : JSON.stringify({ message }) };
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString("utf8", at + 1, nameEnd);
    const type = bytes.readUInt8(nameEnd);
    const isSized = !Object.hasOwn(VALUE_BYTES, type);
    const from = nameEnd + (isSized ? 3 : 1);
    const size = isSized ? bytes.readUInt16BE(nameEnd + 1) : (VALUE_BYTES[type] as number);
    if (type === STRING_TYPE) headers.set(name, bytes.toString("utf8", from, from + size));
    at = from + size;
  }
  return headers;
}

function broken(): UpstreamError {
  return new UpstreamError("sent something other than an event stream");
}
