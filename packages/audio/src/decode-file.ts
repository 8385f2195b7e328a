/** Decodes any audio or video file to mono samples in pieces: memory does not grow with the length of the file. */

import { openAsBlob } from "node:fs";
import {
  ADTS,
  AudioSampleSink,
  BlobSource,
  EncodedPacketSink,
  FilePathSource,
  FLAC,
  Input,
  type InputAudioTrack,
  MATROSKA,
  MP3,
  MP4,
  MPEG_TS,
  OGG,
  QTFF,
  type Source,
  WAVE,
  WEBM,
} from "mediabunny";
import { findAlacCookie } from "./alac-cookie.ts";
import { alacDecoder, parseAlacCookie } from "./alac-decoder.ts";
import { AudioError, tooLong } from "./audio-error.ts";
import { aacDecoder } from "./decode-aac.ts";
import { decodeContainer } from "./decode-container.ts";
import {
  type DecodedAudio,
  decodeFlacFile,
  flacDecoder,
  mp3Decoder,
  opusDecoder,
  type PacketDecoder,
} from "./decode-packets.ts";
import { vorbisDecoder } from "./decode-vorbis.ts";
import { findChainedStreams } from "./ogg-chain.ts";
import { Resampler } from "./resample.ts";

export interface DecodeOptions {
  /** Absolute path of an untrusted file. */
  path: string;
  /** Rate of the decoded samples, in Hz. */
  sampleRate: number;
  /** Longer audio throws an AudioError `too_long`. */
  maxSeconds: number;
}

/** Excludes playlists (HLS), which could make an upload read other files. */
const CONTAINERS = [MP4, QTFF, MATROSKA, WEBM, WAVE, OGG, FLAC, MP3, ADTS, MPEG_TS];
/** Sample entry of Apple Lossless, whose packets the demuxer returns without knowing the codec. */
const ALAC = "alac";
const READ_CACHE_BYTES = 2 * 1024 ** 2;
const PACKETS_PER_BATCH = 50;
const MIN_RATE = 2000;
const MAX_RATE = 768_000;
const SUPPORTED = "Supported are flac, mp3, mp4, m4a, aac, ogg, opus, wav, aiff, au, caf, webm, mkv, mov and mpg.";

/** Throws an AudioError for a file without readable audio and for audio longer than `maxSeconds`. */
export async function* decodeFile({ path, sampleRate, maxSeconds }: DecodeOptions): AsyncGenerator<Float32Array> {
  const resampler = new Resampler(sampleRate);
  let seconds = 0;
  try {
    for await (const audio of decodeStreams(path, maxSeconds)) {
      const { length } = audio.channels[0] ?? [];
      if (length === 0 || length === undefined) continue;
      if (audio.sampleRate < MIN_RATE || audio.sampleRate > MAX_RATE) throw unsupportedRate(audio.sampleRate);
      seconds += length / audio.sampleRate;
      if (seconds > maxSeconds) throw tooLong(maxSeconds);
      yield await resampler.resample(toMono(audio.channels), audio.sampleRate);
    }
    if (seconds === 0) throw new AudioError("unreadable", "The file holds no audio that can be decoded.");
    yield await resampler.finish();
  } finally {
    resampler.close();
  }
}

/** Decodes every stream of a chained file. */
async function* decodeStreams(path: string, maxSeconds: number): AsyncGenerator<DecodedAudio> {
  const other = await decodeContainer(path).catch(throwUnreadable);
  if (other !== undefined) return yield* withUnreadableErrors(other);
  const [first, ...others] = await findChainedStreams(path).catch(throwUnreadable);
  if (others.length === 0 || first === undefined) {
    const source = new FilePathSource(path, { maxCacheSize: READ_CACHE_BYTES, handleUnhandledError: () => {} });
    return yield* decodeSource(source, path, maxSeconds);
  }
  const file = await openAsBlob(path);
  for (const { start, end } of [first, ...others]) {
    const source = new BlobSource(file.slice(start, end), { maxCacheSize: READ_CACHE_BYTES });
    yield* decodeSource(source, path, maxSeconds);
  }
}

async function* decodeSource(source: Source, path: string, maxSeconds: number): AsyncGenerator<DecodedAudio> {
  const input = new Input({ formats: CONTAINERS, source });
  try {
    yield* withUnreadableErrors(decodeTrack(await findTrack(input, maxSeconds), path));
  } finally {
    input.dispose();
  }
}

async function findTrack(input: Input, maxSeconds: number): Promise<InputAudioTrack> {
  const track = await input.getPrimaryAudioTrack().catch(throwUnreadable);
  if (track === null) throw new AudioError("unreadable", "The file has no audio track.");
  if (track.codec === null && track.internalCodecId !== ALAC) {
    throw new AudioError("unreadable", `The codec of the file's audio is not supported. ${SUPPORTED}`);
  }
  if (track.sampleRate < MIN_RATE || track.sampleRate > MAX_RATE) throw unsupportedRate(track.sampleRate);
  const stated = await track.getDurationFromMetadata().catch(throwUnreadable);
  if (stated !== null && stated > maxSeconds) throw tooLong(maxSeconds);
  return track;
}

async function* decodeTrack(track: InputAudioTrack, path: string): AsyncGenerator<DecodedAudio> {
  if (track.codec?.startsWith("pcm-") || track.codec === "ulaw" || track.codec === "alaw")
    return yield* decodePcm(track);
  const decoder = await openDecoder(track, path);
  // Negative timestamps are the encoder's priming samples, which players skip.
  let secondsToSkip = track.codec === "aac" ? -Math.min(0, await track.getFirstTimestamp()) : 0;
  const skipped = (audio: DecodedAudio): DecodedAudio => {
    const skip = Math.min(Math.round(secondsToSkip * audio.sampleRate), audio.channels[0]?.length ?? 0);
    secondsToSkip -= skip / audio.sampleRate;
    return skip === 0 ? audio : { ...audio, channels: audio.channels.map((channel) => channel.subarray(skip)) };
  };
  try {
    let packets = [];
    let hasPackets = false;
    for await (const packet of new EncodedPacketSink(track).packets()) {
      hasPackets = true;
      if (packets.push(packet) < PACKETS_PER_BATCH) continue;
      const audio = await decoder.decode(packets);
      packets = [];
      if (audio !== undefined) yield skipped(audio);
    }
    for (const audio of [await decoder.decode(packets), await decoder.finish()]) {
      if (audio !== undefined) yield skipped(audio);
    }
    if (!hasPackets && (await track.input.getFormat()) === FLAC) yield* decodeFlacFile(path);
  } finally {
    decoder.close();
  }
}

async function openDecoder(track: InputAudioTrack, path: string): Promise<PacketDecoder> {
  if (track.internalCodecId === ALAC) return alacDecoder(parseAlacCookie(await findAlacCookie(path)));
  const config = await track.getDecoderConfig();
  if (config === null) throw new AudioError("unreadable", "The file does not describe the codec of its audio.");
  const description = config.description === undefined ? undefined : toBytes(config.description);
  switch (track.codec) {
    case "mp3":
      return mp3Decoder();
    case "flac":
      return flacDecoder();
    case "opus":
      return opusDecoder(description, config.numberOfChannels);
    case "vorbis":
      return vorbisDecoder(config);
    case "aac":
      return aacDecoder(description);
    default:
      throw new AudioError("unreadable", `The codec ${track.codec} is not supported. ${SUPPORTED}`);
  }
}

async function* decodePcm(track: InputAudioTrack): AsyncGenerator<DecodedAudio> {
  for await (const sample of new AudioSampleSink(track).samples()) {
    const channels = Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
      const plane = new Float32Array(sample.numberOfFrames);
      sample.copyTo(plane, { planeIndex, format: "f32-planar" });
      return plane;
    });
    yield { channels, sampleRate: sample.sampleRate };
    sample.close();
  }
}

function toMono(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0)] = channels;
  if (channels.length === 1) return first;
  return first.map((_, index) => {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    return sum / channels.length;
  });
}

function toBytes(source: NonNullable<AudioDecoderConfig["description"]>): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** Blames the file for any error of a demuxer or decoder. */
async function* withUnreadableErrors<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throwUnreadable(error);
  }
}

function throwUnreadable(error: unknown): never {
  if (error instanceof AudioError) throw error;
  throw new AudioError("unreadable", `The file could not be decoded as audio. ${SUPPORTED}`, { cause: error });
}

function unsupportedRate(rate: number): AudioError {
  return new AudioError(
    "unsupported_sample_rate",
    `The audio has a sample rate of ${rate} Hz; ${MIN_RATE} to ${MAX_RATE} Hz are supported.`,
  );
}
