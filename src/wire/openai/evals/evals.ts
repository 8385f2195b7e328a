/** Evals, runs and output items, as OpenAI's clients send and read them. */

import { z } from "zod";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { listOfEntries } from "../../openapi/organization-answers.ts";
import { Metadata } from "../../responses/metadata.ts";
import { PAGE_QUERY, toSeconds, toSecondsOrNull } from "../organization/organization-list.ts";
import { PromptReference } from "../prompts/prompt-content.ts";
import { Grader } from "./graders.ts";

const NAME = z.string().min(1).max(200);
/** Rows of one run, which are in memory. */
export const MAX_EVAL_ROWS = 10_000;

const metadata = Metadata.nullish();

const DataSourceConfig = z.discriminatedUnion(
  "type",
  [
    z.looseObject({
      type: z.literal("custom"),
      item_schema: z.record(z.string(), z.unknown()),
      include_sample_schema: z.boolean().nullish(),
    }),
  ],
  { error: "it must be custom: rows come from files or from the request" },
);

export const EvalCreateBody = z.strictObject({
  name: NAME.optional(),
  metadata,
  data_source_config: DataSourceConfig,
  testing_criteria: z.array(Grader).min(1).max(50),
});

export const EvalUpdateBody = z.strictObject({ name: NAME.optional(), metadata });

/** A row of an eval. */
export const EvalRowsSchema = z.looseObject({
  item: z.record(z.string(), z.unknown()),
  sample: z.record(z.string(), z.unknown()).nullish(),
});

const Source = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("file_content"), content: z.array(EvalRowsSchema).min(1).max(MAX_EVAL_ROWS) }),
    z.strictObject({ type: z.literal("file_id"), id: z.string().min(1).max(200) }),
  ],
  { error: "it must be file_content or file_id" },
);

const message = z.looseObject({
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: z.union([z.string(), z.looseObject({ type: z.enum(["input_text", "output_text"]), text: z.string() })]),
});

const InputMessages = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("template"), template: z.array(message).min(1).max(200) }),
  z.strictObject({ type: z.literal("item_reference"), item_reference: z.string().regex(/^item(\.[\w-]+)+$/) }),
]);

const sampled = {
  source: Source,
  model: z.string().min(1).max(200).optional(),
  input_messages: InputMessages.optional(),
  sampling_params: z.record(z.string(), z.unknown()).nullish(),
  prompt: PromptReference.optional().describe(
    "Version of a stored prompt, whose variables may be templates. Not in OpenAI's API.",
  ),
};

export const RunDataSource = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("jsonl"), source: Source }),
  z.strictObject({ type: z.literal("completions"), ...sampled }),
  z.strictObject({ type: z.literal("responses"), ...sampled }),
]);

export const EvalRunBody = z.strictObject({ name: NAME.optional(), metadata, data_source: RunDataSource });

export const EvalListQuery = z.looseObject({ ...PAGE_QUERY, order: z.enum(["asc", "desc"]).default("asc") });

export const OutputItemQuery = z.looseObject({
  ...EvalListQuery.shape,
  status: z.enum(["pass", "fail", "error"]).optional(),
});

export type RunDataSource = z.output<typeof RunDataSource>;
export type EvalRowInput = z.output<typeof EvalRowsSchema>;

export interface EvalDefinition {
  dataSourceConfig: z.output<typeof DataSourceConfig>;
  testingCriteria: Grader[];
}

const count = z.int();
const nullableMetadata = z.record(z.string(), z.string()).nullable();

export const Eval = named(
  "Eval",
  z.object({
    id: z.string(),
    object: z.literal("eval"),
    name: z.string(),
    created_at: count,
    data_source_config: z.object({ type: z.literal("custom"), schema: z.record(z.string(), z.unknown()) }),
    testing_criteria: z.array(Grader),
    metadata: nullableMetadata,
  }),
);
export const EvalList = listOfEntries(Eval);
export const EvalDeleted = z.object({ object: z.literal("eval.deleted"), deleted: z.boolean(), eval_id: z.string() });

const failure = z.object({ code: z.string(), message: z.string() });

export const EvalRun = named(
  "EvalRun",
  z.object({
    id: z.string(),
    object: z.literal("eval.run"),
    eval_id: z.string(),
    status: z.enum(["queued", "in_progress", "completed", "canceled", "failed"]),
    model: z.string(),
    name: z.string(),
    created_at: count,
    ended_at: count.nullable().describe("Not in OpenAI's API."),
    report_url: z.string(),
    result_counts: z.object({ total: count, errored: count, failed: count, passed: count }),
    per_model_usage: z.array(
      z.object({
        model_name: z.string(),
        invocation_count: count,
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        cached_tokens: count,
      }),
    ),
    per_testing_criteria_results: z.array(
      z.object({
        testing_criteria: z.string(),
        passed: count,
        failed: count,
        mean_score: z.number().nullable().describe("Not in OpenAI's API."),
      }),
    ),
    data_source: z.looseObject({ type: z.string() }),
    error: failure.nullable(),
    metadata: nullableMetadata,
  }),
);
export const EvalRunList = listOfEntries(EvalRun);
export const EvalRunDeleted = z.object({
  object: z.literal("eval.run.deleted"),
  deleted: z.boolean(),
  run_id: z.string(),
});

const said = z.object({ role: z.string(), content: z.string() });

export const EvalOutputItem = named(
  "EvalOutputItem",
  z.object({
    id: z.string(),
    object: z.literal("eval.run.output_item"),
    created_at: count,
    run_id: z.string(),
    eval_id: z.string(),
    status: z.enum(["pass", "fail", "error"]),
    datasource_item_id: count,
    datasource_item: z.record(z.string(), z.unknown()),
    results: z.array(z.looseObject({ name: z.string(), type: z.string(), score: z.number(), passed: z.boolean() })),
    sample: z.looseObject({
      input: z.array(said),
      output: z.array(said),
      finish_reason: z.string(),
      model: z.string(),
      usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count, cached_tokens: count }),
      error: failure.nullable(),
    }),
  }),
);
export const EvalOutputItemList = listOfEntries(EvalOutputItem);

export interface SampleUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
}

/** What a request to a model resulted in. */
export interface Sample {
  input: readonly { role: string; content: string }[];
  outputText: string;
  finishReason: string;
  model: string;
  usage: SampleUsage;
  error: { code: string; message: string } | undefined;
}

export interface GraderResult {
  name: string;
  type: string;
  score: number;
  passed: boolean;
  /** Why the grader could not decide, or what its model answered. */
  sample?: Readonly<Record<string, unknown>> | undefined;
  error?: string | undefined;
}

export function toEval(row: {
  id: string;
  name: string;
  createdAt: number;
  definition: EvalDefinition;
  metadata: Readonly<Record<string, string>> | null;
}): AnswerOf<typeof Eval> {
  const { dataSourceConfig, testingCriteria } = row.definition;
  const sample = dataSourceConfig.include_sample_schema ? { sample: { type: "object" } } : {};
  const properties = { item: dataSourceConfig.item_schema, ...sample };
  return {
    id: row.id,
    object: "eval",
    name: row.name,
    created_at: toSeconds(row.createdAt),
    data_source_config: { type: "custom", schema: { type: "object", properties, required: Object.keys(properties) } },
    testing_criteria: testingCriteria,
    metadata: row.metadata,
  };
}

export interface ShownRun {
  id: string;
  evalId: string;
  status: AnswerOf<typeof EvalRun>["status"];
  model: string;
  name: string;
  createdAt: number;
  endedAt: number | null;
  counts: { total: number; errored: number; failed: number; passed: number };
  usage: ReadonlyMap<string, SampleUsage & { invocations: number }>;
  criteria: readonly { name: string; passed: number; failed: number; meanScore: number | null }[];
  source: RunDataSource;
  error: { code: string; message: string } | null;
  metadata: Readonly<Record<string, string>> | null;
}

export function toEvalRun(run: ShownRun, origin: string): AnswerOf<typeof EvalRun> {
  return {
    id: run.id,
    object: "eval.run",
    eval_id: run.evalId,
    status: run.status,
    model: run.model,
    name: run.name,
    created_at: toSeconds(run.createdAt),
    ended_at: toSecondsOrNull(run.endedAt),
    report_url: `${origin}/console#/evals/${run.evalId}`,
    result_counts: run.counts,
    per_model_usage: [...run.usage].map(([model, usage]) => ({
      model_name: model,
      invocation_count: usage.invocations,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      cached_tokens: usage.cachedTokens,
    })),
    per_testing_criteria_results: run.criteria.map(({ name, passed, failed, meanScore }) => ({
      testing_criteria: name,
      passed,
      failed,
      mean_score: meanScore,
    })),
    data_source: run.source,
    error: run.error,
    metadata: run.metadata,
  };
}

export function toOutputItem(item: {
  id: string;
  createdAt: number;
  runId: string;
  evalId: string;
  status: "pass" | "fail" | "error";
  position: number;
  item: Readonly<Record<string, unknown>>;
  results: readonly GraderResult[];
  sample: Sample;
}): AnswerOf<typeof EvalOutputItem> {
  const { sample } = item;
  const { promptTokens, completionTokens, cachedTokens } = sample.usage;
  return {
    id: item.id,
    object: "eval.run.output_item",
    created_at: toSeconds(item.createdAt),
    run_id: item.runId,
    eval_id: item.evalId,
    status: item.status,
    datasource_item_id: item.position,
    datasource_item: item.item,
    results: item.results.map(({ sample: graded, error, ...result }) => ({
      ...result,
      ...(graded !== undefined && { sample: graded }),
      ...(error !== undefined && { error }),
    })),
    sample: {
      input: sample.input,
      output: [{ role: "assistant", content: sample.outputText }],
      finish_reason: sample.finishReason,
      model: sample.model,
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        cached_tokens: cachedTokens,
      },
      error: sample.error ?? null,
    },
  };
}
