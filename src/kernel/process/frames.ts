/**
 * Messages of bounded length on the pipe of a child process: four bytes of length, then the message. A sender that
 * announces a longer one is refused before its bytes are read.
 */

const HEADER_BYTES = 4;

/** The other side sends what is not a message within the bound. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

export function toFrame(message: string): Buffer {
  const bytes = Buffer.byteLength(message);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  frame.writeUInt32LE(bytes);
  frame.write(message, HEADER_BYTES);
  return frame;
}

/** Yields messages, and holds at most one with the chunks that follow it. Throws a FrameError beyond `maxBytes`. */
export async function* readFrames(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void> {
  let chunks: Buffer[] = [];
  let length = 0;
  /** Bytes of the header, then those of the message. */
  let expected = HEADER_BYTES;
  let isHeader = true;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    while (length >= expected) {
      const bytes = joined(chunks);
      const part = bytes.subarray(0, expected);
      chunks = [bytes.subarray(expected)];
      length -= expected;
      if (!isHeader) yield part;
      expected = isHeader ? part.readUInt32LE() : HEADER_BYTES;
      if (expected > maxBytes) {
        throw new FrameError(`A message of ${expected} bytes was announced; the limit is ${maxBytes} bytes.`);
      }
      isHeader = !isHeader;
    }
  }
  if (length > 0 || !isHeader) throw new FrameError("The stream ended within a message.");
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
