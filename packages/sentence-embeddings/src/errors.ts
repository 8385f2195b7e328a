/** A file of the model cannot be used. The message names the file and the reason. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
}

/** A text is longer than the model's window, and averaging was not requested. */
export class TextTooLongError extends Error {
  override readonly name = "TextTooLongError";
  /** Index of the input. */
  readonly input: number;
  /** Tokens of the text, special tokens included. */
  readonly tokens: number;
  readonly maxTokens: number;

  constructor(input: number, tokens: number, maxTokens: number) {
    super(`Input ${input} has ${tokens} tokens; the maximum is ${maxTokens}.`);
    this.input = input;
    this.tokens = tokens;
    this.maxTokens = maxTokens;
  }
}

/** A token ID is not in the vocabulary. */
export class UnknownTokenError extends Error {
  override readonly name = "UnknownTokenError";
  readonly input: number;
  /** Index of the token in the input. */
  readonly position: number;
  readonly id: number;
  readonly vocabularySize: number;

  constructor(input: number, position: number, id: number, vocabularySize: number) {
    super(`Input ${input} has the token ID ${id} at ${position}; IDs go from 0 to ${vocabularySize - 1}.`);
    this.input = input;
    this.position = position;
    this.id = id;
    this.vocabularySize = vocabularySize;
  }
}
