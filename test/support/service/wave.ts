/** Writes WAV files for tests, with correct or false headers. */

export interface WaveOptions {
  seconds?: number;
  rate?: number;
  channels?: number;
  bits?: number;
  /** Size of the samples in the header; the actual size by default. */
  statedBytes?: number;
  /** Sample by its index, -1 to 1; silence by default. */
  sample?: (index: number) => number;
}

export function makeWave(options: WaveOptions = {}): Buffer {
  const { seconds = 1, rate = 16_000, channels = 1, bits = 16, sample = () => 0 } = options;
  const frames = Math.round(seconds * (rate || 16_000));
  const data = Buffer.alloc(frames * channels * 2);
  for (let index = 0; index < frames * channels; index += 1) {
    data.writeInt16LE(Math.round(sample(Math.floor(index / channels)) * 32_767), index * 2);
  }
  const header = Buffer.alloc(44);
  const stated = options.statedBytes ?? data.length;
  header.write("RIFF", 0);
  header.writeUInt32LE((36 + stated) % 2 ** 32, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * (bits >> 3), 28);
  header.writeUInt16LE((channels * (bits >> 3)) % 2 ** 16, 32);
  header.writeUInt16LE(bits, 34);
  header.write("data", 36);
  header.writeUInt32LE(stated, 40);
  return Buffer.concat([header, data]);
}

/** The same noise each time, -1 to 1. */
export function noise(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 30 - 1;
  };
}
