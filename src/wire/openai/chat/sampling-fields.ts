/** Fields by which chats and text completions set how tokens are sampled, and when the answer stops. */

import { z } from "zod";
import type { ChatRequest } from "../../../contracts/chat-model.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { optional } from "../optional.ts";

const Decimal = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum);
/**
 * Schema of a bounded integer. A separate check of the upper bound, because Zod words an integer's bound like a
 * decimal's.
 */
export const Integer = (minimum: number, maximum: number) =>
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

export const SAMPLING_FIELDS = {
  temperature: optional(Decimal(0, 2)),
  top_p: optional(Decimal(0, 1)),
  n: optional(Integer(1, 128)),
  stop: optional(z.union([StopText, listOf(StopText).max(4)])),
  frequency_penalty: optional(Decimal(-2, 2)),
  presence_penalty: optional(Decimal(-2, 2)),
  logit_bias: optional(LogitBias),
  // 64-bit seeds are allowed, so not z.int(), which ends at 2^53.
  seed: optional(
    z.number().refine(Number.isInteger, { message: "it must be a whole number", params: { code: "invalid_type" } }),
  ),
  // Extensions of vLLM and llama-server to OpenAI's format.
  top_k: optional(z.int().min(-1)),
  min_p: optional(Decimal(0, 1)),
  repeat_penalty: optional(RepeatPenalty),
  repetition_penalty: optional(RepeatPenalty),
  repeat_last_n: optional(z.int().min(-1)),
  min_tokens: optional(z.int().min(0)),
};

type SamplingBody = { [Name in keyof typeof SAMPLING_FIELDS]?: z.output<(typeof SAMPLING_FIELDS)[Name]> };

/** Returns the path, the value and the message of a contradiction between fields; undefined without one. */
export function samplingProblem(body: SamplingBody): [path: string[], input: unknown, message: string] | undefined {
  const { repeat_penalty: one, repetition_penalty: other } = body;
  if (one === undefined || other === undefined || one === other) return undefined;
  return [["repetition_penalty"], other, "it means the same as 'repeat_penalty', which says otherwise"];
}

type Sampled =
  | "minTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "minP"
  | "seed"
  | "frequencyPenalty"
  | "presencePenalty"
  | "repeatPenalty"
  | "repeatLastN"
  | "logitBias"
  | "stop"
  | "choices";

export function toSampling(body: SamplingBody): Pick<ChatRequest, Sampled> {
  return {
    minTokens: body.min_tokens,
    temperature: body.temperature ?? 1,
    topP: body.top_p ?? 1,
    // Clients of other servers send 0 or -1 for no limit.
    topK: body.top_k !== undefined && body.top_k > 0 ? body.top_k : undefined,
    minP: body.min_p,
    seed: body.seed,
    frequencyPenalty: body.frequency_penalty ?? 0,
    presencePenalty: body.presence_penalty ?? 0,
    repeatPenalty: body.repeat_penalty ?? body.repetition_penalty ?? 1,
    // In llama.cpp -1 means all tokens.
    repeatLastN: body.repeat_last_n === -1 ? undefined : body.repeat_last_n,
    logitBias: body.logit_bias ?? {},
    stop: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
    choices: body.n ?? 1,
  };
}
