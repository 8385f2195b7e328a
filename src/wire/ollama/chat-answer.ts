/** Renders answers of /api/chat and /api/generate, as one object or as lines of JSON (NDJSON). */

import type { TokenLogprob } from "../../contracts/chat-model.ts";
import { Fault } from "../../kernel/faults.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { type PartEvent, toAnswerParts } from "../answer-parts.ts";
import type { FormatAnswer } from "../chat-format.ts";

export type OllamaOperation = "chat" | "generate";

interface Answer {
  text: string;
  thinking: string;
  calls: { name: string; arguments: unknown }[];
  logprobs: readonly TokenLogprob[];
}

export interface RenderOptions {
  operation: OllamaOperation;
  /** As the caller wrote it. */
  model: string;
  /** Time of the request, of `performance.now()`. */
  beganAt: number;
}

/** Yields the lines of a stream. Throws failures. */
export async function* toLines(answer: Pick<FormatAnswer, "events">, options: RenderOptions): AsyncGenerator<string> {
  const timing = new Timing(options.beganAt);
  const calls = new CallReader();
  const line = (part: Partial<Answer>) => toLine({ ...head(options), ...body(options.operation, part), done: false });
  for await (const event of toAnswerParts(answer, true)) {
    if (event.type !== "start") timing.begin();
    const call = calls.read(event);
    if (call !== undefined) yield line({ calls: [call] });
    if (event.type === "part-delta" && event.part.type === "text") {
      yield line({ text: event.text, logprobs: event.logprobs });
    }
    if (event.type === "part-delta" && event.part.type === "reasoning") yield line({ thinking: event.text });
    if (event.type === "end") yield toLine({ ...head(options), ...body(options.operation, {}), ...timing.end(event) });
  }
}

/** Returns the complete answer; {} if the client has disconnected. */
export async function toObject(answer: Pick<FormatAnswer, "events">, options: RenderOptions): Promise<object> {
  const timing = new Timing(options.beganAt);
  const calls = new CallReader();
  const whole = { text: "", thinking: "", calls: [] as Answer["calls"], logprobs: [] as TokenLogprob[] };
  for await (const event of toAnswerParts(answer, true)) {
    if (event.type !== "start") timing.begin();
    const call = calls.read(event);
    if (call !== undefined) whole.calls.push(call);
    if (event.type === "part-delta" && event.part.type === "text") {
      whole.text += event.text;
      whole.logprobs.push(...event.logprobs);
    }
    if (event.type === "part-delta" && event.part.type === "reasoning") whole.thinking += event.text;
    if (event.type === "end") return { ...head(options), ...body(options.operation, whole), ...timing.end(event) };
  }
  return {};
}

/** Returns the answer to a request without a prompt, with which clients load or unload a model. */
export function toLoadAnswer({ operation, model }: Omit<RenderOptions, "beganAt">, isUnload: boolean): object {
  return { ...head({ model }), ...body(operation, {}), done_reason: isUnload ? "unload" : "load", done: true };
}

function head({ model }: { model: string }) {
  return { model, created_at: new Date().toISOString() };
}

function body(
  operation: OllamaOperation,
  { text = "", thinking = "", calls = [], logprobs: tokens = [] }: Partial<Answer>,
): object {
  const thought = thinking === "" ? {} : { thinking };
  const logprobs = tokens.map(({ top, ...token }) => ({ ...token, top_logprobs: top }));
  const scored = logprobs.length === 0 ? {} : { logprobs };
  if (operation === "generate") return { response: text, ...thought, ...scored };
  const tool_calls = calls.map((called) => ({ function: called }));
  return {
    message: { role: "assistant", content: text, ...thought, ...(calls.length === 0 ? {} : { tool_calls }) },
    ...scored,
  };
}

export function toLine(data: object): string {
  return `${JSON.stringify(data)}\n`;
}

/** Collects the arguments of a call, which Ollama sends as one object. */
class CallReader {
  #arguments = "";

  /** Returns the call that ends with this event. */
  read(event: PartEvent): Answer["calls"][number] | undefined {
    if (!("part" in event) || event.part.type !== "tool-call") return undefined;
    if (event.type === "part-start") this.#arguments = "";
    if (event.type === "part-delta") this.#arguments += event.text;
    return event.type === "part-stop" ? { name: event.part.name, arguments: parse(this.#arguments) } : undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text || "{}");
  } catch (cause) {
    throw new Fault("answer-unfit", "The model wrote arguments of a tool call that are not JSON.", { cause });
  }
}

const NANOSECONDS = 1e6;

/** Durations of an answer in nanoseconds. */
class Timing {
  readonly #beganAt: number;
  #firstAt: number | undefined;

  constructor(beganAt: number) {
    this.#beganAt = beganAt;
  }

  begin(): void {
    this.#firstAt ??= performance.now();
  }

  end({ reason, usage }: { reason: string; usage: TokenUsage }): object {
    const now = performance.now();
    const firstAt = this.#firstAt ?? now;
    return {
      done: true,
      done_reason: reason === "length" ? "length" : "stop",
      total_duration: toNanoseconds(now - this.#beganAt),
      load_duration: 0,
      prompt_eval_count: usage.promptTokens,
      prompt_eval_duration: toNanoseconds(firstAt - this.#beganAt),
      eval_count: usage.completionTokens,
      eval_duration: toNanoseconds(now - firstAt),
    };
  }
}

export function toNanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * NANOSECONDS);
}
