const LF = 0x0a;
const CR = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface RawLine {
  /** Number in the file, from 1. */
  number: number;
  /** Position of `bytes` in the file. */
  offset: number;
  /** Without the blanks and line break around it, so empty for a blank line; undefined beyond the length limit. */
  bytes: Buffer | undefined;
}

/** Yields the lines of a stream. Blank ones too, because a reader that awaits none of millions would block others. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<RawLine> {
  let number = 0;
  let offset = 0;
  let buffers: Buffer[] = [];
  let heldBytes = 0;
  const take = (end: Buffer): RawLine => {
    const length = heldBytes + end.length;
    const isTooLong = length > maxBytes + 1;
    const line = isTooLong ? undefined : Buffer.concat([...buffers, end]);
    const [from, to] = line === undefined ? [0, 0] : contentOf(line);
    const lineRecord = { number: ++number, offset: offset + from, bytes: line?.subarray(from, to) };
    buffers = [];
    heldBytes = 0;
    offset += length + 1;
    return lineRecord;
  };
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = buffer.indexOf(LF); end !== -1; end = buffer.indexOf(LF, start)) {
      const line = take(buffer.subarray(start, end));
      start = end + 1;
      yield line;
    }
    const rest = buffer.subarray(start);
    heldBytes += rest.length;
    // Of a line that is too long, only the length is needed.
    if (heldBytes > maxBytes + 1) buffers = [];
    else buffers.push(rest);
  }
  if (heldBytes > 0) yield take(Buffer.alloc(0));
}

/** Returns where the line's content begins and ends: without a byte order mark and blanks around it. */
function contentOf(line: Buffer): [start: number, end: number] {
  let start = line.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  let end = line.length;
  const isBlank = (byte = 0) => byte === 0x20 || byte === 0x09 || byte === CR;
  while (start < end && isBlank(line[start])) start += 1;
  while (end > start && isBlank(line[end - 1])) end -= 1;
  return [start, end];
}
