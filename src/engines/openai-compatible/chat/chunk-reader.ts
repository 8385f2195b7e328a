/** Parses the events of a streamed `chat.completion.chunk` answer and follows which of its choices have ended. */

import type { TokenUsage } from "../../../kernel/usage.ts";
import { calledFunctions, parseOpenAiUsage } from "../../../wire/usage/openai-usage.ts";
import { withCalls } from "../../../wire/usage/usage-fields.ts";
import { parseUpstreamError, UpstreamError } from "../upstream-error.ts";
import { FirstCalls } from "./first-call.ts";

export interface ChunkReaderOptions {
  /** Number of requested choices; the answer ends when all have ended. */
  choices: number;
  /** True if each choice reports its own usage, instead of one report at the end. */
  usagePerChoice?: boolean;
  /** Whether the caller takes one tool call at a time. */
  hasSingleCalls?: boolean;
}

export interface Chunk {
  fields: Record<string, unknown>;
  choices: readonly unknown[];
  /** True if it only adds text: it ends no choice and has no usage. */
  isPlain: boolean;
  /** True if `fields` are not what the upstream sent: a second tool call is gone. */
  isChanged: boolean;
}

export class ChunkReader {
  readonly #options: ChunkReaderOptions;
  /** Indexes of ended choices: some upstreams repeat the end of a choice, with its usage. */
  readonly #endedChoices = new Set<unknown>();
  #serviceTier: unknown;
  /** Names of called functions; a frame that is handled as bytes differs from an earlier one in its text only. */
  readonly #calls: unknown[] = [];
  readonly #firstCalls: FirstCalls | undefined;
  /** The upstream's report; undefined before it. */
  usageFields: Record<string, unknown> | undefined;
  finishReason: string | undefined;
  /** True after `[DONE]`; anything after it is ignored. */
  isDone = false;

  constructor(options: ChunkReaderOptions) {
    this.#options = options;
    this.#firstCalls = options.hasSingleCalls === true ? new FirstCalls() : undefined;
  }

  /** True once all choices have ended; an answer that breaks off before is incomplete. */
  get isComplete(): boolean {
    return this.isDone ? this.finishReason !== undefined : this.#endedChoices.size >= this.#options.choices;
  }

  get usage(): TokenUsage | undefined {
    return withCalls(parseOpenAiUsage(this.usageFields, this.#serviceTier), this.#calls);
  }

  /**
   * Returns undefined for events that are not part of the answer: usage alone, with empty choices or none, and `[DONE]`.
   * Throws an UpstreamError.
   */
  read({ event, data }: { event?: string | undefined; data: string }): Chunk | undefined {
    if (data === "[DONE]") {
      this.isDone = true;
      return undefined;
    }
    const fields = parseObject(data);
    throwError(fields, event);
    const choices = Array.isArray(fields.choices) ? fields.choices : [];
    const isChanged = this.#firstCalls?.keepIn(choices) === true;
    let isEmpty = true;
    let hasEnd = false;
    for (const choice of choices) {
      this.#calls.push(...calledFunctions(choice?.delta));
      isEmpty &&= isEmptyChoice(choice, this.#endedChoices.has(indexOf(choice)));
      if (this.#readEnd(choice?.finish_reason, indexOf(choice))) hasEnd = true;
    }
    if (fields.service_tier !== undefined) this.#serviceTier = fields.service_tier;
    const hasUsage = parseOpenAiUsage(fields.usage) !== undefined;
    if (hasUsage) {
      const usage = fields.usage as Record<string, unknown>;
      this.usageFields = this.#options.usagePerChoice === true ? withChoice(this.usageFields, usage) : usage;
    }
    if ((hasUsage || isChanged) && isEmpty) return undefined;
    const isPlain = choices.length > 0 && !isChanged && !hasUsage && !hasEnd;
    return { fields, choices, isPlain, isChanged };
  }

  /** Returns whether a choice ends. */
  #readEnd(reason: unknown, index: unknown): boolean {
    if (typeof reason !== "string") return false;
    if (reason === "error") throw new UpstreamError("ended a choice with an error");
    this.finishReason = reason;
    // Some upstreams send it until the choice ends.
    if (reason === "") return false;
    this.#endedChoices.add(index);
    return true;
  }
}

/** Whether a choice adds nothing: no text, call or logarithm, and no end that was not reported before. */
function isEmptyChoice(choice: unknown, hasEnded: boolean): boolean {
  const { delta, text, logprobs, finish_reason: reason } = (choice ?? {}) as Record<string, unknown>;
  const { role: _role, ...message } = (delta ?? {}) as Record<string, unknown>;
  const isEnd = typeof reason === "string" && reason !== "" && !hasEnded;
  return !isEnd && [text, logprobs, ...Object.values(message)].every(isEmptyValue);
}

function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** The prompt is the same for all choices. */
function withChoice(
  before: Record<string, unknown> | undefined,
  usage: Record<string, unknown>,
): Record<string, unknown> {
  if (before === undefined) return usage;
  const completionTokens = Number(before.completion_tokens) + Number(usage.completion_tokens);
  return {
    ...before,
    completion_tokens: completionTokens,
    total_tokens: Number(before.prompt_tokens) + completionTokens,
  };
}

function parseObject(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new UpstreamError("sent an event that is not JSON", { cause: error });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new UpstreamError("sent an event that is not a JSON object");
  }
  return parsed as Record<string, unknown>;
}

function throwError(fields: Record<string, unknown>, event: string | undefined): void {
  const error = parseUpstreamError(fields);
  if (error !== undefined) throw error;
  if (event === "error") throw new UpstreamError("sent an error event");
}

function indexOf(choice: { index?: unknown } | null | undefined): unknown {
  const { index = 0 } = choice ?? {};
  return index;
}
