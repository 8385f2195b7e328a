/** Decodes AAC packets with FFmpeg built for WebAssembly, which takes complete files only: groups of packets become files. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { EncodedPacket } from "mediabunny";
import { AudioError } from "./audio-error.ts";
import type { DecodedAudio, PacketDecoder } from "./decode-packets.ts";

/** Packets decoded again before each group: the transform reaches back a packet, and the library drops a file's first frame. */
const PREROLL_PACKETS = 5;
/** Small at first, so that the first words do not wait; then large, because each group costs a fresh instance. */
const FIRST_GROUP_PACKETS = 300;
const GROUP_PACKETS = 2000;
const FRAME_SAMPLES = 1024;

/** Opens a decoder. `config` is the AudioSpecificConfig (ISO 14496-3, 1.6.2.1); undefined when the packets have ADTS headers already. */
export async function aacDecoder(config: Uint8Array | undefined): Promise<PacketDecoder> {
  const toAdts = config === undefined ? (packet: Uint8Array) => packet : adtsWriter(config);
  const decodeFile = await loadFfmpeg();
  let preroll: Uint8Array[] | undefined;
  let group: Uint8Array[] = [];
  let groupPackets = FIRST_GROUP_PACKETS;

  const decodeGroup = async (): Promise<DecodedAudio | undefined> => {
    const [first] = group;
    if (first === undefined) return undefined;
    const before: Uint8Array[] = preroll ?? new Array(PREROLL_PACKETS).fill(first);
    const packets = [...before, ...group];
    const { samples, sampleRate } = await decodeFile(packets);
    // With spectral band replication a packet holds twice as many samples.
    const frame = Math.max(1, Math.round(samples.length / packets.length / FRAME_SAMPLES)) * FRAME_SAMPLES;
    preroll = packets.slice(-PREROLL_PACKETS);
    const sampleCount = Math.min(samples.length, group.length * frame);
    group = [];
    groupPackets = GROUP_PACKETS;
    return { channels: [samples.subarray(samples.length - sampleCount)], sampleRate };
  };

  return {
    decode: async (packets: readonly EncodedPacket[]) => {
      for (const { data } of packets) group.push(toAdts(data));
      return group.length < groupPackets ? undefined : decodeGroup();
    },
    finish: decodeGroup,
    close: () => {
      group = [];
    },
  };
}

interface DecodedFile {
  samples: Float32Array;
  sampleRate: number;
}

async function loadFfmpeg(): Promise<(packets: readonly Uint8Array[]) => Promise<DecodedFile>> {
  const require = createRequire(import.meta.url);
  // The package targets browsers and detects Node by globals that CommonJS has and ES modules lack.
  Object.assign(globalThis, { require, __dirname: import.meta.dirname });
  // Each instance registers a pair of handlers that rethrow.
  process.setMaxListeners(0);
  const { getAudioDecoder } = await import("@humansignal/audio-file-decoder");
  const wasm = await readFile(require.resolve("@humansignal/audio-file-decoder/decode-audio.wasm"));
  const wasmUrl = `data:application/wasm;base64,${wasm.toString("base64")}`;
  return async (packets) => {
    const file = Buffer.concat(packets);
    const decoder = await getAudioDecoder(wasmUrl, new Uint8Array(file).buffer);
    try {
      return { samples: decoder.decodeAudioData(0, -1), sampleRate: decoder.sampleRate };
    } finally {
      decoder.dispose();
      process.removeAllListeners("uncaughtException");
      process.removeAllListeners("unhandledRejection");
    }
  };
}

const LONG_FRAME_HEADER_BYTES = 7;
const AAC_LOW_COMPLEXITY = 2;
/** Audio object types that extend a low-complexity core: SBR (5) and parametric stereo (29). */
const EXTENSIONS = [5, 29];

/** Prepends an ADTS header (ISO 13818-7, 6.2), which carries what a container stores once in its `config`. */
function adtsWriter(config: Uint8Array): (packet: Uint8Array) => Uint8Array {
  const bits = (start: number, count: number) => {
    let value = 0;
    for (let bit = start; bit < start + count; bit += 1) {
      value = (value << 1) | (((config[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    }
    return value;
  };
  const objectType = EXTENSIONS.includes(bits(0, 5)) ? AAC_LOW_COMPLEXITY : bits(0, 5);
  const rateIndex = bits(5, 4);
  const channels = bits(9, 4);
  if (objectType < 1 || objectType > 4 || rateIndex > 12 || channels < 1 || channels > 7) {
    throw new AudioError("unreadable", "This profile of AAC is not supported: only Main, LC, SSR and LTP are.");
  }
  return (packet) => {
    const length = packet.length + LONG_FRAME_HEADER_BYTES;
    return Buffer.concat([
      Uint8Array.of(
        0xff,
        0xf1,
        ((objectType - 1) << 6) | (rateIndex << 2) | (channels >> 2),
        ((channels & 3) << 6) | (length >> 11),
        (length >> 3) & 0xff,
        ((length & 7) << 5) | 0x1f,
        0xfc,
      ),
      packet,
    ]);
  };
}
