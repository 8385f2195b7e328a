/** What the runs of evals ask and grade. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../../kernel/list-of.ts";
import { Metadata } from "../../responses/metadata.ts";
import { PromptReference } from "../prompts/prompt-content.ts";

/** Rows of one run. */
export const MAX_EVAL_ROWS = 10_000;
const DEFAULT_STORED_ROWS = 1_000;

/** A row of an eval. */
export const EvalRowsSchema = lazy.looseObject(() => ({
  item: z.record(z.string(), z.unknown()),
  sample: z.record(z.string(), z.unknown()).nullish(),
}));

const fileContent = lazy.strictObject(() => ({
  type: z.literal("file_content"),
  content: parsedListOf(EvalRowsSchema).min(1).max(MAX_EVAL_ROWS),
}));
const fileId = lazy.strictObject(() => ({ type: z.literal("file_id"), id: z.string().min(1).max(200) }));

const time = z.int().min(0).nullish().describe("Unix seconds.");
const limit = z
  .int()
  .min(1)
  .max(MAX_EVAL_ROWS)
  .nullish()
  .describe(`Rows at most, the newest first; default: ${DEFAULT_STORED_ROWS}.`);
const model = z.string().min(1).max(200);

const storedCompletions = lazy.strictObject(() => ({
  type: z.literal("stored_completions"),
  created_after: time,
  created_before: time,
  limit,
  metadata: Metadata.nullish(),
  model: model.nullish(),
}));

const storedResponses = lazy.strictObject(() => ({
  type: z.literal("responses"),
  created_after: time,
  created_before: time,
  limit: limit.describe(`Not in OpenAI's API. Default: ${DEFAULT_STORED_ROWS}.`),
  instructions_search: z.string().min(1).max(1000).nullish(),
  metadata: Metadata.nullish(),
  model: model.nullish(),
  reasoning_effort: z.string().min(1).max(20).nullish(),
  temperature: z.number().nullish(),
  tools: listOf(z.string().max(100)).max(100).nullish().describe("Names or types of tools, each of which it had."),
  top_p: z.number().nullish(),
  users: listOf(z.string().max(200)).max(100).nullish().describe("Values of `safety_identifier`."),
}));

const message = lazy.looseObject(() => ({
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: z.union([z.string(), z.looseObject({ type: z.enum(["input_text", "output_text"]), text: z.string() })]),
}));

const InputMessages = z.discriminatedUnion("type", [
  lazy.strictObject(() => ({ type: z.literal("template"), template: parsedListOf(message).min(1).max(200) })),
  lazy.strictObject(() => ({
    type: z.literal("item_reference"),
    item_reference: z.string().regex(/^item(\.[\w-]+)+$/),
  })),
]);

const sampled = {
  model: model.optional(),
  input_messages: InputMessages.optional(),
  sampling_params: z.record(z.string(), z.unknown()).nullish(),
  prompt: PromptReference.optional().describe(
    "Version of a stored prompt, whose variables may be templates. Not in OpenAI's API.",
  ),
};

const completions = lazy.strictObject(() => ({
  type: z.literal("completions"),
  source: z.discriminatedUnion("type", [fileContent, fileId, storedCompletions], {
    error: "it must be file_content, file_id or stored_completions",
  }),
  ...sampled,
}));
const responses = lazy.strictObject(() => ({
  type: z.literal("responses"),
  source: z.discriminatedUnion("type", [fileContent, fileId, storedResponses], {
    error: "it must be file_content, file_id or responses",
  }),
  ...sampled,
}));

export const RunDataSource = z.discriminatedUnion("type", [
  lazy.strictObject(() => ({
    type: z.literal("jsonl"),
    source: z.discriminatedUnion("type", [fileContent, fileId], { error: "it must be file_content or file_id" }),
  })),
  completions,
  responses,
]);

/** What a comparison asks each of its variants. */
export const ComparedDataSource = z.discriminatedUnion("type", [completions, responses]);

export const Variant = lazy.strictObject(() => ({
  name: z.string().min(1).max(200).optional().describe("Name of the run."),
  model: sampled.model,
  prompt: sampled.prompt,
  input_messages: InputMessages.nullish().describe(
    "In place of those of `data_source`; null: none, such as for a prompt that has them in its variables.",
  ),
  sampling_params: sampled.sampling_params,
}));

export type RunDataSource = z.output<typeof RunDataSource>;
export type SampledDataSource = z.output<typeof ComparedDataSource>;
export type RunSource = RunDataSource["source"];
export type CompletionsSource = z.output<typeof storedCompletions>;
export type ResponsesSource = z.output<typeof storedResponses>;
export type EvalRowInput = z.output<typeof EvalRowsSchema>;

/** Whether rows are what the service stores, with the answers that were given. */
export function isStored(source: RunSource): source is CompletionsSource | ResponsesSource {
  return source.type === "stored_completions" || source.type === "responses";
}

export function rowLimitOf({ limit: rows }: CompletionsSource | ResponsesSource): number {
  return rows ?? DEFAULT_STORED_ROWS;
}
