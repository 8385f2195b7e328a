/** Why a file has no text that can be indexed. */
export type DocumentErrorCode = "unsupported_file" | "invalid_file";

interface DocumentErrorOptions extends ErrorOptions {
  isPicture?: boolean;
}

/** An expected failure, whose message is safe to show. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly code: DocumentErrorCode;
  /** Whether the file is a scan or an image, whose text only text recognition can read. */
  readonly isPicture: boolean;

  constructor(code: DocumentErrorCode, message: string, { isPicture = false, ...options }: DocumentErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.isPicture = isPicture;
  }
}
