/** Encodes to signed 16-bit little-endian mono. */
export async function* encodePcm(samples: AsyncIterable<Float32Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of samples) yield toPcm16(piece);
}

/**
 * Prepends a WAV header. It holds the true length if the recording ends before the source makes its
 * consumer wait for `WAIT_FOR_END_MS` in all, as that of one sentence does; otherwise 0xFFFFFFFF, with which players play a stream while it arrives.
 */
export async function* encodeWav(samples: AsyncIterable<Float32Array>, sampleRate: number): AsyncGenerator<Uint8Array> {
  const encoded = encodePcm(samples);
  const pieces: Uint8Array[] = [];
  let next = encoded.next();
  try {
    const first = await next;
    if (!first.done) {
      pieces.push(first.value);
      next = encoded.next();
    }
    const isComplete = first.done === true || (await collectWithin(WAIT_FOR_END_MS));
    const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    yield wavHeader(sampleRate, isComplete ? bytes : UNKNOWN_LENGTH);
    yield* pieces.splice(0);
    if (isComplete) return;
    for (let piece = await next; piece.done !== true; piece = await encoded.next()) yield piece.value;
  } finally {
    // A pending `next` has its failure thrown above, or nobody waits for it any more.
    next.catch(() => {});
    await encoded.return(undefined);
  }

  /**
   * Collects pieces until the end, the deadline or `MAX_COLLECTED_BYTES`; true at the end. The timer runs only where the
   * source waits: how fast this thread computes does not decide.
   */
  async function collectWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, milliseconds, undefined);
    });
    try {
      for (let bytes = 0; bytes < MAX_COLLECTED_BYTES; ) {
        const piece = await Promise.race([next, deadline]);
        if (piece === undefined) return false;
        if (piece.done === true) return true;
        pieces.push(piece.value);
        bytes += piece.value.byteLength;
        next = encoded.next();
      }
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Encodes a complete recording with its length in the header. */
export function toWav(samples: Float32Array, sampleRate: number): Uint8Array {
  return Buffer.concat([wavHeader(sampleRate, samples.length * BYTES_PER_SAMPLE), toPcm16(samples)]);
}

/** Size of what `toWav` returns. */
export function wavBytes(samples: number): number {
  return WAV_HEADER_BYTES + samples * BYTES_PER_SAMPLE;
}

/** Converts samples (-1 to 1) to 16-bit little-endian integers; clips louder ones. */
export function toPcm16(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  // Three times as fast as an iterator of entries.
  for (let index = 0; index < samples.length; index += 1) {
    view.setInt16(index * 2, Math.round(Math.max(-1, Math.min(1, samples[index] as number)) * 32_767), true);
  }
  return bytes;
}

/** Converts signed 16-bit little-endian integers to samples (-1 to 1); ignores an odd last byte. */
export function fromPcm16(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index += 1) samples[index] = view.getInt16(index * 2, true) / 32_768;
  return samples;
}

/** Players read to the end of the stream when RIFF's length is 0xFFFFFFFF. */
const UNKNOWN_LENGTH = 0xffff_ffff;
const WAIT_FOR_END_MS = 50;
/** Some 20 s of speech; a source that never waits keeps the timer from running. */
const MAX_COLLECTED_BYTES = 1024 ** 2;
const BYTES_PER_SAMPLE = 2;
const WAV_HEADER_BYTES = 44;

function wavHeader(sampleRate: number, dataBytes: number): Uint8Array {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(Math.min(UNKNOWN_LENGTH, dataBytes + WAV_HEADER_BYTES - 8), 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
