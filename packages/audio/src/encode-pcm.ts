/** Encodes to signed 16-bit little-endian mono. */
export async function* encodePcm(samples: AsyncIterable<Float32Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of samples) yield toPcm16(piece);
}

/** Prepends a WAV header of unknown length, because the length of a stream is not known when it starts. */
export async function* encodeWav(samples: AsyncIterable<Float32Array>, sampleRate: number): AsyncGenerator<Uint8Array> {
  yield wavHeader(sampleRate, UNKNOWN_LENGTH);
  yield* encodePcm(samples);
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
