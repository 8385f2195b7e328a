/** Reads the header of an AU file (Sun's and NeXT's `.snd`) and writes that of a CAF file with the same samples. */

import { AudioError } from "./audio-error.ts";

const MIN_HEADER_BYTES = 24;
const FLOAT = 1;

interface Encoding {
  format: "lpcm" | "ulaw" | "alaw";
  bits: number;
  flags: number;
}

/** Values of the header's encoding field: G.711, and big-endian PCM. */
const ENCODINGS: Readonly<Record<number, Encoding>> = {
  1: { format: "ulaw", bits: 8, flags: 0 },
  2: { format: "lpcm", bits: 8, flags: 0 },
  3: { format: "lpcm", bits: 16, flags: 0 },
  4: { format: "lpcm", bits: 24, flags: 0 },
  5: { format: "lpcm", bits: 32, flags: 0 },
  6: { format: "lpcm", bits: 32, flags: FLOAT },
  7: { format: "lpcm", bits: 64, flags: FLOAT },
  27: { format: "alaw", bits: 8, flags: 0 },
};

/** `start` holds at least the fixed part of an AU header. Throws an AudioError for another encoding than PCM and G.711. */
export function cafHeaderOf(start: Buffer): { header: Uint8Array; dataOffset: number } {
  if (start.length < MIN_HEADER_BYTES) throw new AudioError("unreadable", "The file ends within its header.");
  const [dataOffset = 0, , code = 0, sampleRate = 0, channels = 0] = [4, 8, 12, 16, 20].map((at) =>
    start.readUInt32BE(at),
  );
  const encoding = ENCODINGS[code];
  if (encoding === undefined || channels < 1 || channels > 64) {
    throw new AudioError(
      "unreadable",
      `The encoding ${code} of this AU file is not supported: only PCM and G.711 are.`,
    );
  }
  return { header: cafHeader(encoding, sampleRate, channels), dataOffset: Math.max(dataOffset, MIN_HEADER_BYTES) };
}

/** Apple's Core Audio Format: file header, `desc` chunk, and a `data` chunk that reaches to the end of the file. */
function cafHeader({ format, bits, flags }: Encoding, sampleRate: number, channels: number): Uint8Array {
  const header = Buffer.alloc(68);
  header.write("caff", 0, "latin1");
  header.writeUInt16BE(1, 4);
  header.write("desc", 8, "latin1");
  header.writeBigInt64BE(32n, 12);
  header.writeDoubleBE(sampleRate, 20);
  header.write(format, 28, "latin1");
  header.writeUInt32BE(flags, 32);
  header.writeUInt32BE((channels * bits) / 8, 36);
  header.writeUInt32BE(1, 40);
  header.writeUInt32BE(channels, 44);
  header.writeUInt32BE(bits, 48);
  header.write("data", 52, "latin1");
  header.writeBigInt64BE(-1n, 56);
  return header;
}
