/** Streams samples to an audio format: encoded bytes leave before the next samples are requested. */

import { encodePcm, encodeWav } from "./encode-pcm.ts";
import type { AudioFormat } from "./formats.ts";

export interface EncodeOptions {
  format: AudioFormat;
  sampleRate: number;
}

/** Encodes mono samples (-1 to 1). Stops requesting samples once its consumer returns early. */
export function encodeAudio(
  samples: AsyncIterable<Float32Array>,
  { format, sampleRate }: EncodeOptions,
): AsyncGenerator<Uint8Array> {
  switch (format) {
    case "pcm":
      return encodePcm(samples);
    case "wav":
      return encodeWav(samples, sampleRate);
    default:
      return encodeCompressed(samples, format, sampleRate);
  }
}

/** Loads the encoders on first use: they take 20 MB, which a process that never encodes need not hold. */
async function* encodeCompressed(
  samples: AsyncIterable<Float32Array>,
  format: Exclude<AudioFormat, "pcm" | "wav">,
  sampleRate: number,
): AsyncGenerator<Uint8Array> {
  const encoders = await import("./encode-compressed.ts");
  yield* encoders.encodeCompressed(samples, { format, sampleRate });
}
