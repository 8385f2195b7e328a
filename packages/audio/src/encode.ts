/** Streams samples to an audio format: encoded bytes leave before the next samples are requested. */

import type { CompressOptions } from "./encode-compressed.ts";
import { encodePcm, encodeWav } from "./encode-pcm.ts";
import type { AudioFormat } from "./formats.ts";

export interface EncodeOptions {
  format: AudioFormat;
  sampleRate: number;
  /** Yields FLAC when complete, with its length in the header. Other formats are always streamed. */
  isSeekable?: boolean;
}

/** Encodes mono samples (-1 to 1). Stops requesting samples once its consumer returns early. */
export function encodeAudio(
  samples: AsyncIterable<Float32Array>,
  { format, sampleRate, isSeekable = false }: EncodeOptions,
): AsyncGenerator<Uint8Array> {
  switch (format) {
    case "pcm":
      return encodePcm(samples);
    case "wav":
      return encodeWav(samples, sampleRate);
    default:
      return encodeCompressed(samples, { format, sampleRate, isSeekable: isSeekable && format === "flac" });
  }
}

/** Loads the encoders on first use: they take 20 MB, which a process that never encodes need not hold. */
async function* encodeCompressed(
  samples: AsyncIterable<Float32Array>,
  options: CompressOptions,
): AsyncGenerator<Uint8Array> {
  const encoders = await import("./encode-compressed.ts");
  yield* options.isSeekable ? encoders.encodeSeekable(samples, options) : encoders.encodeCompressed(samples, options);
}
