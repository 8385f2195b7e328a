/** Parses an upstream's error, in any of the formats that upstreams use. */

export interface UpstreamErrorDetails {
  /** The upstream's message, to be redacted before it is shown. */
  message?: string | undefined;
  param?: string | undefined;
  code?: string | undefined;
  /** HTTP status that the error object itself claims. */
  status?: number | undefined;
  /** True for an answer that says nothing of other requests. */
  dependsOnRequest?: boolean | undefined;
  cause?: unknown;
}

/** The upstream is at fault, or says so. `problem` follows the upstream's name in a sentence. */
export class UpstreamError extends Error {
  readonly problem: string;
  readonly details: UpstreamErrorDetails;

  constructor(problem: string, details: UpstreamErrorDetails = {}) {
    super(`the upstream ${problem}`, { cause: details.cause });
    this.problem = problem;
    this.details = details;
  }
}

/**
 * The error that a body or an event holds, if it holds one: `{error: {…}}` (OpenAI), `{error: "…"}` (Ollama),
 * `{object: "error", message}` (older vLLM), `{detail: "…" | [{loc, msg}]}` (FastAPI), `[{error}]` (Gemini).
 */
export function parseUpstreamError(body: unknown): UpstreamError | undefined {
  const object = Array.isArray(body) ? body[0] : body;
  if (typeof object !== "object" || object === null) return undefined;
  const { error, object: kind, detail } = object as Record<string, unknown>;
  if (typeof error === "string" && error !== "") return toError({ message: error });
  if (typeof error === "object" && error !== null) return toError(error as Record<string, unknown>);
  if (error === true || kind === "error") return toError(object as Record<string, unknown>);
  if (detail !== undefined && !("choices" in object)) return toError({ message: detailMessage(detail) });
  return undefined;
}

function toError(error: Record<string, unknown>): UpstreamError {
  const status = [error.status, error.code]
    .map(Number)
    .find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  // A limit per minute counts tokens, too.
  if (status !== 429 && saysTooLong(error)) return contextExceeded(error);
  return new UpstreamError("answered with an error", {
    message: textOf(error.message),
    param: textOf(error.param),
    code: typeof error.code === "number" ? String(error.code) : textOf(error.code),
    status,
  });
}

/**
 * Sentences of vLLM, Anthropic, Gemini, Bedrock, Mistral, Cohere and this service; not Bedrock's of a limit per minute or
 * day, which gateways repeat: "Too many tokens, please wait before trying again."
 */
const TOO_LONG =
  /maximum context length|prompt is too long|input token count .{0,100}exceeds the maximum|input is too long|too many (?:input )?tokens(?!.{0,40}please wait)|exceeds? the (?:model's )?(?:maximum )?context|model's context window is \d/i;

/** llama-server's word for it and the sentences of others, which come without OpenAI's code. */
function saysTooLong({ type, message }: Record<string, unknown>): boolean {
  return type === "exceed_context_size_error" || TOO_LONG.test(textOf(message) ?? "");
}

function contextExceeded({ message }: Record<string, unknown>): UpstreamError {
  const details = { message: textOf(message), param: "messages", code: "context_length_exceeded", status: 400 };
  return new UpstreamError("answered with an error", details);
}

function detailMessage(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return textOf(detail);
  const messages = detail.map((each: { loc?: unknown; msg?: unknown } | null) => {
    const path = Array.isArray(each?.loc) ? `${each.loc.join(".")}: ` : "";
    return path + (textOf(each?.msg) ?? "");
  });
  return textOf(messages.join("; "));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
