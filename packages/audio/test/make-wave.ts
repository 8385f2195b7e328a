export interface WaveOptions {
  seconds?: number;
  rate?: number;
  channels?: number;
  /** Returns the sample (-1 to 1) at an index; silence when left out. */
  sample?: (index: number) => number;
}

/** Makes a WAV file of 16-bit samples. */
export function makeWave({ seconds = 1, rate = 16_000, channels = 1, sample = () => 0 }: WaveOptions = {}): Buffer {
  const count = Math.round(seconds * rate) * channels;
  const data = Buffer.alloc(count * 2);
  for (let index = 0; index < count; index += 1) {
    data.writeInt16LE(Math.round(sample(Math.floor(index / channels)) * 32_767), index * 2);
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
