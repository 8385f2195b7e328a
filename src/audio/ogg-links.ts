import { type FileHandle, open } from "node:fs/promises";

/** Byte offsets; `end` is exclusive. */
export interface Link {
  start: number;
  end: number;
}

const CAPTURE = Buffer.from("OggS");
const HEADER_BYTES = 27;
const MAX_HEADER_BYTES = HEADER_BYTES + 255;
const WINDOW_BYTES = 256 * 1024;
const BEGINS_STREAM = 0x02;

/**
 * The parts of an Ogg file that are a stream each: recorders and radio stations write one after the other ("chaining",
 * RFC 3533 section 4), and demuxers end with the first. One part, the whole file, for everything else.
 */
export async function oggLinks(path: string): Promise<Link[]> {
  await using file = await open(path);
  const { size } = await file.stat();
  const starts = [0];
  let isBeginning = true;
  const window = new Window(file);
  for (let at = 0; at < size; ) {
    const header = await window.at(at, MAX_HEADER_BYTES);
    if (header.length < HEADER_BYTES || !header.subarray(0, CAPTURE.length).equals(CAPTURE)) break;
    // All streams that sound together begin before the first page of any of them that holds something.
    const begins = ((header[5] as number) & BEGINS_STREAM) !== 0;
    if (begins && !isBeginning) starts.push(at);
    isBeginning = begins;
    const segments = header.subarray(HEADER_BYTES, HEADER_BYTES + (header[26] as number));
    at += HEADER_BYTES + segments.length + segments.reduce((sum, length) => sum + length, 0);
  }
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? size }));
}

/** Reads ahead, since pages are small. */
class Window {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #length = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Fewer bytes at the file's end. */
  async at(position: number, length: number): Promise<Buffer> {
    if (position < this.#start || position + length > this.#start + this.#length) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, WINDOW_BYTES, position);
      this.#start = position;
      this.#length = bytesRead;
    }
    const from = position - this.#start;
    return this.#buffer.subarray(from, Math.min(from + length, this.#length));
  }
}
