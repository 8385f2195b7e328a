/** Why a file has no text that can be indexed. */
export type DocumentErrorCode = "unsupported_file" | "invalid_file";

/** An expected failure, whose message is safe to show. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly code: DocumentErrorCode;

  constructor(code: DocumentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
