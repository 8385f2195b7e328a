/** Graders: what decides whether a sample passes. */

import { z } from "zod";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../../kernel/list-of.ts";

const name = z.string().min(1).max(200);
const text = z.string().max(200_000);
const input = parsedListOf(
  lazy.looseObject(() => ({
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: z.union([text, z.looseObject({ type: z.enum(["input_text", "output_text"]), text })]),
  })),
)
  .min(1)
  .max(100);

const METRICS = [
  ...(["fuzzy_match", "bleu", "gleu", "meteor", "cosine"] as const),
  ...(["rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"] as const),
] as const;

const stringCheck = lazy.strictObject(() => ({
  type: z.literal("string_check"),
  name,
  input: text,
  reference: text,
  operation: z.enum(["eq", "ne", "like", "ilike"]),
}));

const textSimilarity = lazy.strictObject(() => ({
  type: z.literal("text_similarity"),
  name,
  input: text,
  reference: text,
  evaluation_metric: z.enum(METRICS),
  pass_threshold: z.number().default(0.5),
  embedding_model: z
    .string()
    .max(200)
    .default("text-embedding-3-large")
    .describe("Model of the metric cosine. Not in OpenAI's API."),
}));

const labelModel = lazy.strictObject(() => ({
  type: z.literal("label_model"),
  name,
  model: z.string().min(1).max(200),
  input,
  labels: listOf(z.string().min(1)).min(1).max(100),
  passing_labels: listOf(z.string().min(1)).min(1).max(100),
}));

const scoreModel = lazy.strictObject(() => ({
  type: z.literal("score_model"),
  name,
  model: z.string().min(1).max(200),
  input,
  range: listOf(z.number()).length(2).default([0, 1]),
  pass_threshold: z.number().optional().describe("Default: the middle of the range."),
  sampling_params: z
    .looseObject({
      temperature: z.number().nullish(),
      top_p: z.number().nullish(),
      seed: z.int().nullish(),
      max_completions_tokens: z.int().nullish(),
      reasoning_effort: z.string().nullish(),
    })
    .nullish(),
}));

const single = z.discriminatedUnion("type", [stringCheck, textSimilarity, labelModel, scoreModel]);

const multi = lazy.strictObject(() => ({
  type: z.literal("multi"),
  name,
  graders: z.record(z.string().regex(/^[A-Za-z_]\w*$/, { error: "must be letters, digits and _" }), single),
  calculate_output: z
    .string()
    .min(1)
    .max(2000)
    .describe("Formula over the names of the graders: + - * / ^, and min, max, abs, floor, ceil, exp, sqrt, log."),
  pass_threshold: z.number().default(0.5),
}));

export const Grader = z.discriminatedUnion("type", [stringCheck, textSimilarity, labelModel, scoreModel, multi]);

export type Grader = z.output<typeof Grader>;
export type SingleGrader = z.output<typeof single>;
export type GraderInput = z.output<typeof input>;

/** Throws a Fault for graders that run code. */
export function refusePython(graders: unknown, path: string): void {
  const list = Array.isArray(graders) ? graders : Object.values(Object(graders));
  for (const [index, grader] of list.entries()) {
    const { type, graders: inner } = Object(grader) as { type?: unknown; graders?: unknown };
    if (type === "multi") refusePython(inner, `${path}[${index}].graders`);
    if (type !== "python") continue;
    const message =
      "Graders of the type 'python' are not supported: this service runs no code of callers. Use string_check, text_similarity, score_model, label_model or multi.";
    throw unsupportedValue(message, `${path}[${index}].type`);
  }
}
