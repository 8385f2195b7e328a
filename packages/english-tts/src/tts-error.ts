export type TtsErrorCode =
  | "input_too_long"
  | "invalid_ssml"
  | "nothing_to_speak"
  | "unknown_voice"
  | "unsupported_language";

/** An expected failure whose message is safe to show to the author of the text. */
export class TtsError extends Error {
  override readonly name = "TtsError";
  readonly code: TtsErrorCode;

  constructor(code: TtsErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function nothingToSpeak(): TtsError {
  return new TtsError("nothing_to_speak", "The text has nothing that this voice can say in its language.");
}

export function unknownVoice(voice: string, voices: readonly string[]): TtsError {
  return new TtsError("unknown_voice", `There is no voice ${JSON.stringify(voice)}; there are ${voices.join(", ")}.`);
}

export function invalidSsml(reason: string): TtsError {
  return new TtsError("invalid_ssml", `The text contains SSML that cannot be spoken: ${reason}.`);
}
