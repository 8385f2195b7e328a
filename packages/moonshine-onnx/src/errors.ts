export type MoonshineFile = "encoder" | "decoder" | "tokenizer";

/** A file of the model cannot be used. The message names the file and the reason. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
  readonly file: MoonshineFile;

  constructor(file: MoonshineFile, message: string) {
    super(message);
    this.file = file;
  }
}
