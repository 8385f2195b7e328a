/** Decodes one codec's packets with WebAssembly decoders, whose faults cannot leave their sandbox. */

import { createReadStream } from "node:fs";
import { FLACDecoder } from "@wasm-audio-decoders/flac";
import type { EncodedPacket } from "mediabunny";
import { MPEGDecoder } from "mpg123-decoder";
import { OpusDecoder } from "opus-decoder";

/** `channels` holds one array per channel, all of the same length. */
export interface DecodedAudio {
  channels: readonly Float32Array[];
  sampleRate: number;
}

export interface PacketDecoder {
  /** Resolves to undefined while it has no samples yet. */
  decode(packets: readonly EncodedPacket[]): Promise<DecodedAudio | undefined>;
  /** Returns the samples that are still buffered after the last packet. */
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

/** Small reads limit memory: a few dozen bytes may be a frame of 65,535 samples in eight channels. */
const FLAC_BYTES_AT_ONCE = 2048;

/** Decodes a FLAC file whose frames the demuxer rejects: it takes frames that state their rate in kilohertz for broken. */
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

/** `head` is the stream's `OpusHead` (RFC 7845, section 5.1): channels, pre-skip and channel mapping. */
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
