export type AudioErrorCode =
  /** No decoder reads the file; another decoder, such as FFmpeg, may. */
  | "unreadable"
  | "too_long"
  | "unsupported_sample_rate"
  /** The decoding process was killed by its limits on memory or time, or crashed: other files still decode. */
  | "decoder_killed"
  /** The decoder failed for a reason that is not the file's. */
  | "decoder_failed"
  | "decoder_not_started"
  | "ffmpeg_not_usable";

/** An expected failure whose message is safe to show to the owner of the file. */
export class AudioError extends Error {
  override readonly name = "AudioError";
  readonly code: AudioErrorCode;

  constructor(code: AudioErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** AudioError of a recording beyond the maximum length. */
export function tooLong(maxSeconds: number): AudioError {
  return new AudioError("too_long", `The audio is longer than ${maxSeconds} seconds, the maximum.`);
}
