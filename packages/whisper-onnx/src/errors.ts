/** Failures that a caller can act on. Anything else thrown by this package is a bug. */

export type WhisperFile = "weights" | "tokenizer" | "config";

/** A file of the model cannot be used. The message names the file and the reason. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
  readonly file: WhisperFile;

  constructor(file: WhisperFile, message: string) {
    super(message);
    this.file = file;
  }
}

/** The prompt leaves the decoder too little room for the transcript. */
export class PromptTooLongError extends RangeError {
  override readonly name = "PromptTooLongError";
  readonly tokens: number;
  readonly maxTokens: number;

  constructor(tokens: number, maxTokens: number) {
    super(`The prompt has ${tokens} tokens; this model takes at most ${maxTokens}.`);
    this.tokens = tokens;
    this.maxTokens = maxTokens;
  }
}
