/** `options`, `format` and `think` of Ollama's requests. */

import { z } from "zod";
import type { AnswerFormat, ChatDefaults, ChatRequest } from "../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";

const Text = z.string().min(1);

export const Options = lazy.looseObject(() => ({
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  top_k: optional(z.int().min(-1)),
  min_p: optional(z.number().min(0).max(1)),
  /** -1 and -2: without a limit. */
  num_predict: optional(z.int().min(-2)),
  stop: optional(z.union([Text, listOf(Text).max(16)])),
  seed: optional(z.int()),
  repeat_penalty: optional(z.number().gt(0)),
  repeat_last_n: optional(z.int().min(-1)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  frequency_penalty: optional(z.number().min(-2).max(2)),
}));

type Options = z.output<typeof Options>;

const KNOWN_OPTIONS: readonly string[] = Object.keys(Options.shape);

/** Returns the paths of options without effect, such as `options.num_ctx`. */
export function ignoredOptions(options: Options | undefined): string[] {
  return Object.entries(options ?? {})
    .filter(([name, value]) => value !== undefined && value !== null && !KNOWN_OPTIONS.includes(name))
    .map(([name]) => `options.${name}`);
}

/** `json`, or a schema. */
export const Format = z.union([z.enum(["", "json"]), z.record(z.string(), z.unknown())]);

/** Whether the model thinks, or how much. */
export const Think = z.union([z.boolean(), z.string().min(1)]);

export function toAnswerFormat(format: z.output<typeof Format> | undefined): AnswerFormat {
  if (format === "json") return { type: "json" };
  if (typeof format !== "object") return { type: "text" };
  return { type: "json-schema", schema: format, param: "format" };
}

export function toReasoningEffort(think: z.output<typeof Think> | undefined): string | undefined {
  if (think === false) return "none";
  return typeof think === "string" ? think : undefined;
}

type Sampling = Pick<
  ChatRequest,
  | "temperature"
  | "topP"
  | "topK"
  | "minP"
  | "seed"
  | "repeatPenalty"
  | "repeatLastN"
  | "presencePenalty"
  | "frequencyPenalty"
  | "stop"
  | "maxTokens"
>;

/** Converts the options; those that are missing have the model's defaults. */
export function toSampling(options: Partial<Options> = {}, defaults: ChatDefaults = {}): Sampling {
  const values = { ...DEFAULT_CHAT_REQUEST, ...defaults };
  const { top_k, num_predict, stop, repeat_last_n = 0 } = options;
  return {
    temperature: options.temperature ?? values.temperature,
    topP: options.top_p ?? values.topP,
    topK: top_k === undefined ? values.topK : positive(top_k),
    minP: options.min_p ?? values.minP,
    seed: options.seed,
    // 0 turns the penalty off.
    repeatPenalty: options.repeat_last_n === 0 ? 1 : (options.repeat_penalty ?? values.repeatPenalty),
    repeatLastN: positive(repeat_last_n),
    presencePenalty: options.presence_penalty ?? values.presencePenalty,
    frequencyPenalty: options.frequency_penalty ?? values.frequencyPenalty,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    maxTokens: num_predict === undefined ? values.maxTokens : positive(num_predict),
  };
}

/** Undefined for 0 and -1, which turn an option off. */
function positive(value: number): number | undefined {
  return value > 0 ? value : undefined;
}
