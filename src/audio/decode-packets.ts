/** One codec's packets to samples, by decoders in WebAssembly: a fault in one of them cannot leave its sandbox. */

import { createReadStream } from "node:fs";
import { FLACDecoder } from "@wasm-audio-decoders/flac";
import type { EncodedPacket } from "mediabunny";
import { MPEGDecoder } from "mpg123-decoder";
import { OpusDecoder } from "opus-decoder";

/** One array a channel, all of the same length. */
export interface DecodedAudio {
  channels: readonly Float32Array[];
  sampleRate: number;
}

export interface PacketDecoder {
  /** Undefined while it has nothing to give yet. */
  decode(packets: readonly EncodedPacket[]): Promise<DecodedAudio | undefined>;
  /** What it still holds after the last packet. */
  finish(): Promise<DecodedAudio | undefined>;
  close(): void;
}

interface FrameDecoder {
  ready: Promise<void>;
  free(): void;
  decodeFrames(frames: Uint8Array[]): Frames | Promise<Frames>;
}

export interface Frames {
  channelData: Float32Array[];
  sampleRate: number;
}

export function mp3Decoder(): Promise<PacketDecoder> {
  return fromFrames(new MPEGDecoder({ enableGapless: false }));
}

export function flacDecoder(): Promise<PacketDecoder> {
  return fromFrames(new FLACDecoder());
}

/** A few dozen bytes may be a frame of 65,535 samples in eight channels, and all that is read at once is decoded at once. */
const FLAC_BYTES_AT_ONCE = 2048;

/** A file whose frames the demuxer does not find: it takes those that tell their rate in kilohertz for broken ones. */
export async function* decodeFlacFile(path: string): AsyncGenerator<DecodedAudio> {
  const decoder = new FLACDecoder();
  await decoder.ready;
  const toAudio = ({ channelData, sampleRate }: Frames): DecodedAudio => ({ channels: channelData, sampleRate });
  try {
    const pieces = createReadStream(path, { highWaterMark: FLAC_BYTES_AT_ONCE });
    for await (const bytes of pieces) yield toAudio(await decoder.decode(bytes));
    yield toAudio(await decoder.flush());
  } finally {
    decoder.free();
  }
}

/** `head` is the stream's `OpusHead` (RFC 7845, section 5.1): channels, samples to skip, and which stream is which channel. */
export function opusDecoder(head: Uint8Array | undefined, channels: number): Promise<PacketDecoder> {
  if (head === undefined || head.length < 19) return fromFrames(new OpusDecoder({ channels }));
  const preSkip = new DataView(head.buffer, head.byteOffset).getUint16(10, true);
  const isMapped = (head[18] ?? 0) > 0 && head.length >= 21 + channels;
  if (!isMapped) return fromFrames(new OpusDecoder({ channels, preSkip }));
  return fromFrames(
    new OpusDecoder({
      channels,
      preSkip,
      streamCount: head[19] as number,
      coupledStreamCount: head[20] as number,
      channelMappingTable: [...head.subarray(21, 21 + channels)],
    }),
  );
}

async function fromFrames(decoder: FrameDecoder): Promise<PacketDecoder> {
  await decoder.ready;
  return {
    decode: async (packets) => {
      const { channelData, sampleRate } = await decoder.decodeFrames(packets.map(({ data }) => data));
      return { channels: channelData, sampleRate };
    },
    finish: async () => undefined,
    close: () => decoder.free(),
  };
}
