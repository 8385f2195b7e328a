/** Samples to a file format, as they come: what has been encoded leaves before the next samples are asked for. */

import { encodePcm, encodeWav } from "./encode-pcm.ts";

export const AUDIO_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/** The rate at which OpenAI's clients play headerless PCM. */
const USUAL_PCM_RATE = 24_000;

/** `pcm` has no header, so that a rate other than the usual one is told here. */
export function audioContentType(format: AudioFormat, sampleRate: number): string {
  switch (format) {
    case "mp3":
      return "audio/mpeg";
    case "opus":
      return "audio/ogg; codecs=opus";
    case "pcm":
      return sampleRate === USUAL_PCM_RATE ? "audio/pcm" : `audio/pcm; rate=${sampleRate}`;
    default:
      return `audio/${format}`;
  }
}

/** Encodes mono samples (-1 to 1). Stops asking for samples once its consumer returns early. */
export function encodeAudio(
  samples: AsyncIterable<Float32Array>,
  { format, sampleRate }: { format: AudioFormat; sampleRate: number },
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

/** Loads the encoders when they are first wanted: they are 20 MB that a service without speech need not hold. */
async function* encodeCompressed(
  samples: AsyncIterable<Float32Array>,
  format: Exclude<AudioFormat, "pcm" | "wav">,
  sampleRate: number,
): AsyncGenerator<Uint8Array> {
  const encoders = await import("./encode-compressed.ts");
  yield* encoders.encodeCompressed(samples, { format, sampleRate });
}
