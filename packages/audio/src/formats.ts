/** Names and content types of the formats that samples can be encoded to. Loads no codec. */

export const AUDIO_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/** Sample rate at which OpenAI's clients play headerless PCM. */
const DEFAULT_PCM_RATE = 24_000;

/** Samples by which an encoder delays the audio, where the format does not tell players to skip them. */
const DELAY_SAMPLES: Partial<Record<AudioFormat, number>> = { mp3: 1105, aac: 1024 };
/** 312 samples at 48 kHz. */
const OPUS_DELAY_SECONDS = 0.0065;

/** Returns by how much samples are late in the encoded audio, as players decode it. */
export function encodingDelaySeconds(format: AudioFormat, sampleRate: number): number {
  return format === "opus" ? OPUS_DELAY_SECONDS : (DELAY_SAMPLES[format] ?? 0) / sampleRate;
}

/** `pcm` has no header, so its content type names any rate other than 24 kHz. */
export function audioContentType(format: AudioFormat, sampleRate: number): string {
  switch (format) {
    case "mp3":
      return "audio/mpeg";
    case "opus":
      return "audio/ogg; codecs=opus";
    case "pcm":
      return sampleRate === DEFAULT_PCM_RATE ? "audio/pcm" : `audio/pcm; rate=${sampleRate}`;
    default:
      return `audio/${format}`;
  }
}
