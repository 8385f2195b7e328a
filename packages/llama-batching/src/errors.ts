export type RequestErrorCode = "invalid_value" | "unsupported_value" | "context_length_exceeded";

/** The model cannot honor the request. The message and `param` are safe to show to the caller. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: RequestErrorCode | undefined;
  /** Path of the field at fault, such as `tool_choice`. */
  readonly param: string;

  constructor(message: string, param: string, code?: RequestErrorCode) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

/** The model could not be loaded, or failed while it generated. The message is safe to show to the caller. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  /** When a retry may succeed. */
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, cause?: unknown) {
    super(message, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The GPU has too little memory even for a model whose weights are on the CPU. */
export class GpuMemoryError extends ModelError {}

/** A prompt for which the context cannot grow now. */
export function memoryShort(): ModelError {
  const message =
    "The machine has too little free memory for a prompt of this length now. Try again later, or send a shorter prompt.";
  return new ModelError(message, 30);
}
