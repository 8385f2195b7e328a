/** POST /v1/chat/completions: validates the body for every model, local or upstream. */

import { z } from "zod";
import { GuidedJson, ResponseFormat } from "./chat-format.ts";
import { Messages } from "./chat-messages.ts";
import { ChatModeration } from "./chat-moderation.ts";
import { choiceProblem, ToolChoiceField, Tools } from "./chat-tools.ts";
import { optional } from "./optional.ts";
import { sparseSchema } from "./sparse-schema.ts";
import { parse } from "./validate.ts";

const Decimal = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum);
const PositiveInteger = z.int().min(1);
/**
 * Schema of a bounded integer. A separate check of the upper bound, because Zod words an integer's bound like a
 * decimal's.
 */
const Integer = (minimum: number, maximum: number) =>
  z
    .int()
    .min(minimum)
    .refine((value) => value <= maximum, {
      message: `it must be at most ${maximum}`,
      params: { code: "integer_above_max_value" },
    });
const StopText = z.string().min(1);
const RepeatPenalty = z
  .number()
  .refine((value) => value > 0, { message: "it must be above 0; 1 does nothing", params: { code: "invalid_value" } });
const Bias = Decimal(-100, 100);
/** Schema of `logit_bias`; stops at the first invalid entry, like `listOf`. */
const LogitBias = z.record(z.string(), z.custom<number>()).check(({ value, issues }) => {
  for (const [key, bias] of Object.entries(value)) {
    const message = "its keys are token IDs, which are whole numbers";
    if (!/^\d{1,10}$/.test(key)) issues.push({ code: "custom", path: [key], input: key, message });
    const { error } = Bias.safeParse(bias, { reportInput: true });
    issues.push(...((error?.issues ?? []).map((issue) => ({ ...issue, path: [key] })) as typeof issues));
    if (issues.length > 0) return;
  }
});

const FIELDS = {
  model: z.string().min(1),
  messages: Messages,
  stream: optional(z.boolean()),
  stream_options: optional(
    z.looseObject({ include_usage: optional(z.boolean()), include_obfuscation: optional(z.boolean()) }),
  ),
  temperature: optional(Decimal(0, 2)),
  top_p: optional(Decimal(0, 1)),
  n: optional(Integer(1, 128)),
  max_tokens: optional(PositiveInteger),
  max_completion_tokens: optional(PositiveInteger),
  stop: optional(z.union([StopText, z.array(StopText).max(4)])),
  frequency_penalty: optional(Decimal(-2, 2)),
  presence_penalty: optional(Decimal(-2, 2)),
  logit_bias: optional(LogitBias),
  // 64-bit seeds are allowed, so not z.int(), which ends at 2^53.
  seed: optional(
    z.number().refine(Number.isInteger, { message: "it must be a whole number", params: { code: "invalid_type" } }),
  ),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(Integer(0, 20)),
  // Extensions of vLLM and llama-server to OpenAI's format.
  top_k: optional(z.int().min(-1)),
  min_p: optional(Decimal(0, 1)),
  repeat_penalty: optional(RepeatPenalty),
  repetition_penalty: optional(RepeatPenalty),
  repeat_last_n: optional(z.int().min(-1)),
  min_tokens: optional(z.int().min(0)),
  chat_template_kwargs: optional(z.record(z.string(), z.unknown())),
  guided_json: optional(GuidedJson),
  // Extension of Ollama.
  think: optional(z.union([z.boolean(), z.string().min(1)])),
  response_format: optional(ResponseFormat),
  tools: optional(Tools),
  tool_choice: optional(ToolChoiceField),
  parallel_tool_calls: optional(z.boolean()),
  reasoning_effort: optional(z.string().min(1)),
  user: optional(z.string()),
  metadata: optional(z.record(z.string(), z.unknown())),
  store: optional(z.boolean()),
  service_tier: optional(z.string()),
  moderation: optional(ChatModeration),
};

/** Schema that keeps unknown fields: an upstream gets them, a local model refuses or ignores them. */
const bodyOf = (fields: typeof FIELDS) =>
  z.looseObject(fields).check(({ value, issues }) => {
    const refuse = (path: string[], input: unknown, message: string) =>
      issues.push({ code: "custom", path, input, message });
    if (value.stream_options !== undefined && value.stream !== true) {
      refuse(["stream_options"], value.stream_options, "it may be set only when 'stream' is true");
    }
    if (value.top_logprobs !== undefined && value.logprobs !== true) {
      refuse(["top_logprobs"], value.top_logprobs, "it may be set only when 'logprobs' is true");
    }
    const { repeat_penalty: one, repetition_penalty: other } = value;
    if (one !== undefined && other !== undefined && one !== other) {
      refuse(["repetition_penalty"], other, "it means the same as 'repeat_penalty', which says otherwise");
    }
    if (value.guided_json !== undefined && (value.response_format?.type ?? "text") !== "text") {
      refuse(["guided_json"], value.guided_json, "'response_format' asks for JSON already");
    }
    if (value.tool_choice === undefined) return;
    const problem = choiceProblem(value.tool_choice, value.tools ?? []);
    if (problem !== undefined) refuse(["tool_choice", ...problem.path], value.tool_choice, problem.message);
  });

export type ChatCompletionBody = z.output<ReturnType<typeof bodyOf>>;

const bodyFor = sparseSchema(FIELDS, ["model", "messages"], bodyOf);

/** Validates the body. Throws a Fault that names the first invalid field. */
export function readChatBody(value: unknown): ChatCompletionBody {
  return parse(bodyFor(value), value);
}
