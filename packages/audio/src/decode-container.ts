/** Decodes files of containers that the demuxer does not know, recognized by their first bytes. */

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { decoder as aiffDecoder } from "@audio/decode-aiff";
import { decoder as cafDecoder } from "@audio/decode-caf";
import { MPEGDecoder } from "mpg123-decoder";
import { cafHeaderOf } from "./au-header.ts";
import { AudioError } from "./audio-error.ts";
import { decodeAlacCaf, isAlacCaf } from "./caf-alac.ts";
import { type DecodedAudio, decodeFlacFile, type Frames } from "./decode-packets.ts";
import { readProgramStream } from "./program-stream.ts";

/** Ogg's first page with one packet has a header of 28 bytes. */
const OGG_PACKET = 28;
const SNIFFED_BYTES = OGG_PACKET + 5;
const CHUNK_BYTES = 64 * 1024;
/** Metadata before the audio, such as a cover, is buffered; a file without audio would be buffered completely. */
const MAX_HEADER_BYTES = 16 * 1024 ** 2;

/** Returns undefined for a container that the demuxer knows, or that nobody knows. */
export async function decodeContainer(path: string): Promise<AsyncGenerator<DecodedAudio> | undefined> {
  const start = await readStart(path);
  const magic = start.toString("latin1", 0, 4);
  const kind = start.toString("latin1", 8, 12);
  if (magic === "FORM" && (kind === "AIFF" || kind === "AIFC")) return decodeChunks(aiffDecoder(), chunks(path));
  if (magic === "caff" && isAlacCaf(start)) return decodeAlacCaf(path);
  if (magic === "caff") return decodeChunks(cafDecoder(), chunks(path));
  if (magic === ".snd") return decodeChunks(cafDecoder(), auAsCaf(path, start));
  if (magic === "OggS" && start.toString("latin1", OGG_PACKET, OGG_PACKET + 5) === "\x7fFLAC")
    return decodeFlacFile(path);
  if (magic === "\0\0\x01\xba") return decodeMpegAudio(readProgramStream(chunks(path)));
  return undefined;
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function chunks(path: string, start = 0): AsyncIterable<Buffer> {
  return createReadStream(path, { start, highWaterMark: CHUNK_BYTES });
}

async function* auAsCaf(path: string, start: Buffer): AsyncGenerator<Uint8Array> {
  const { header, dataOffset } = cafHeaderOf(start);
  yield header;
  yield* chunks(path, dataOffset);
}

interface ChunkDecoder {
  decode(data: Uint8Array): Frames;
  flush(): Frames;
  free(): void;
}

async function* decodeChunks(decoder: ChunkDecoder, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedAudio> {
  let bytesBeforeAudio = 0;
  let hasAudio = false;
  try {
    for await (const bytes of pieces) {
      const audio = toAudio(decoder.decode(bytes));
      hasAudio ||= (audio.channels[0]?.length ?? 0) > 0;
      bytesBeforeAudio += hasAudio ? 0 : bytes.length;
      if (bytesBeforeAudio > MAX_HEADER_BYTES) throw new AudioError("unreadable", "The file's header is too long.");
      yield audio;
    }
    yield toAudio(decoder.flush());
  } finally {
    decoder.free();
  }
}

async function* decodeMpegAudio(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedAudio> {
  const decoder = new MPEGDecoder({ enableGapless: false });
  await decoder.ready;
  try {
    for await (const bytes of pieces) yield toAudio(decoder.decode(bytes));
  } finally {
    decoder.free();
  }
}

function toAudio({ channelData, sampleRate }: Frames): DecodedAudio {
  return { channels: channelData, sampleRate };
}
