import { type FileHandle, open } from "node:fs/promises";

/** Offsets in bytes; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

const CAPTURE = Buffer.from("OggS");
const HEADER_BYTES = 27;
const MAX_HEADER_BYTES = HEADER_BYTES + 255;
const WINDOW_BYTES = 256 * 1024;
const BEGINS_STREAM = 0x02;

/**
 * Finds the streams that a chained Ogg file concatenates (RFC 3533, section 4), as recorders and radio stations write
 * them: demuxers stop after the first. Returns one range, the complete file, for any other file.
 */
export async function findChainedStreams(path: string): Promise<ByteRange[]> {
  await using file = await open(path);
  const { size } = await file.stat();
  const starts = [0];
  let isHeader = true;
  const reader = new ReadAhead(file);
  for (let at = 0; at < size; ) {
    const header = await reader.read(at, MAX_HEADER_BYTES);
    if (header.length < HEADER_BYTES || !header.subarray(0, CAPTURE.length).equals(CAPTURE)) break;
    // Multiplexed streams all begin before the first page of any of them that carries data.
    const begins = ((header[5] as number) & BEGINS_STREAM) !== 0;
    if (begins && !isHeader) starts.push(at);
    isHeader = begins;
    const segments = header.subarray(HEADER_BYTES, HEADER_BYTES + (header[26] as number));
    at += HEADER_BYTES + segments.length + segments.reduce((sum, length) => sum + length, 0);
  }
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? size }));
}

/** Reads ahead, because pages are small. */
class ReadAhead {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #length = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Returns fewer bytes at the end of the file. */
  async read(position: number, length: number): Promise<Buffer> {
    if (position < this.#start || position + length > this.#start + this.#length) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, WINDOW_BYTES, position);
      this.#start = position;
      this.#length = bytesRead;
    }
    const from = position - this.#start;
    return this.#buffer.subarray(from, Math.min(from + length, this.#length));
  }
}
