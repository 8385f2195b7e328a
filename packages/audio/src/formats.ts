/** Names and content types of the formats that samples can be encoded to. Loads no codec. */

export const AUDIO_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/** Sample rate at which OpenAI's clients play headerless PCM. */
const DEFAULT_PCM_RATE = 24_000;

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
