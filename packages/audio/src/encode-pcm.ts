/** Encodes to signed 16-bit little-endian mono. */
export async function* encodePcm(samples: AsyncIterable<Float32Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of samples) yield toPcm16(piece);
}

/** Prepends a WAV header of unknown length, because the length of a stream is not known when it starts. */
export async function* encodeWav(samples: AsyncIterable<Float32Array>, sampleRate: number): AsyncGenerator<Uint8Array> {
  yield streamingWavHeader(sampleRate);
  yield* encodePcm(samples);
}

/** Converts samples (-1 to 1) to 16-bit little-endian integers; clips louder ones. */
export function toPcm16(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [index, sample] of samples.entries()) {
    view.setInt16(index * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true);
  }
  return bytes;
}

/** Players read to the end of the stream when RIFF's length is 0xFFFFFFFF. */
const UNKNOWN_LENGTH = 0xffff_ffff;
const BYTES_PER_SAMPLE = 2;

function streamingWavHeader(sampleRate: number): Uint8Array {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(UNKNOWN_LENGTH, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(UNKNOWN_LENGTH, 40);
  return header;
}
