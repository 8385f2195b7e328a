/** Runs of evals and their output items, as OpenAI's clients send and read them. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import { describedBy } from "../../openapi/described-by.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { Metadata } from "../../responses/metadata.ts";
import { toSeconds, toSecondsOrNull } from "../organization/organization-list.ts";
import { ComparedDataSource, RunDataSource, Variant } from "./data-source.ts";
import { EvalListQuery, NAME, nullableMetadata } from "./evals.ts";

const MAX_VARIANTS = 20;

export const EvalRunBody = named(
  "EvalRunBody",
  lazy.strictObject(() => ({
    name: NAME.optional(),
    metadata: Metadata.nullish(),
    data_source: RunDataSource,
  })),
);

export const EvalComparisonBody = named(
  "EvalComparisonBody",
  lazy.strictObject(() => ({
    metadata: Metadata.nullish(),
    data_source: ComparedDataSource,
    variants: parsedListOf(Variant)
      .min(1)
      .max(MAX_VARIANTS)
      .describe("Models and versions of stored prompts: one run each, over the rows of `data_source`."),
  })),
);

const EVAL_RUN_STATUS = z.enum(["queued", "in_progress", "completed", "canceled", "failed"]);

export const EvalRunListQuery = lazy.looseObject(() => ({
  ...EvalListQuery.shape,
  status: EVAL_RUN_STATUS.optional(),
  comparison_id: z.string().min(1).max(200).optional(),
}));

export const OutputItemQuery = lazy.looseObject(() => ({
  ...EvalListQuery.shape,
  status: z.enum(["pass", "fail", "error"]).optional(),
}));

const count = z.int();
const failure = lazy.object(() => ({ code: z.string(), message: z.string() }));
const cost = z.number().nullable().describe("US dollars; null: a model has no price. Not in OpenAI's API.");

export const EvalRun = named(
  "EvalRun",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("eval.run"),
    eval_id: z.string(),
    comparison_id: z
      .string()
      .nullable()
      .describe("Runs that were started together have the same. Not in OpenAI's API."),
    status: EVAL_RUN_STATUS,
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
        cost_usd: cost,
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
    sampling: z
      .object({ cost_usd: cost, mean_duration_ms: z.number().nullable() })
      .describe("Requests to the model, without those of graders. Not in OpenAI's API."),
    data_source: describedBy(z.looseObject({ type: z.string() }), RunDataSource),
    error: failure.nullable(),
    metadata: nullableMetadata,
  })),
);
export const EvalRunList = listOfEntries(EvalRun);
export const EvalComparison = named(
  "EvalComparison",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("eval.comparison"),
    eval_id: z.string(),
    runs: z.array(EvalRun),
  })),
);
export const EvalRunDeleted = named(
  "EvalRunDeleted",
  lazy.object(() => ({
    object: z.literal("eval.run.deleted"),
    deleted: z.boolean(),
    run_id: z.string(),
  })),
);

const said = lazy.object(() => ({ role: z.string(), content: z.string() }));

export const EvalOutputItem = named(
  "EvalOutputItem",
  lazy.object(() => ({
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
      temperature: z.number(),
      top_p: z.number(),
      max_completion_tokens: count.optional().describe("Absent where the request had no limit."),
      seed: count.optional().describe("Absent where the request had none."),
      cost_usd: cost,
      duration_ms: z.int().nullable().describe("Not in OpenAI's API."),
      error: failure.nullable(),
    }),
  })),
);
export const EvalOutputItemList = listOfEntries(EvalOutputItem);

export interface SampleUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
}

export const NO_SAMPLE_USAGE: SampleUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };

/** How a model was sampled; what is left out was not sent. */
export interface SamplingParameters {
  temperature?: number;
  topP?: number;
  maxCompletionTokens?: number;
  seed?: number;
}

/** What a request to a model resulted in. */
export interface Sample {
  /** Left out: nothing was sent, or an earlier version recorded none. */
  parameters?: SamplingParameters;
  input: readonly { role: string; content: string }[];
  outputText: string;
  finishReason: string;
  model: string;
  usage: SampleUsage;
  /** Null: the model has no price, or the row has its sample. */
  costNanoDollars?: number | null;
  /** Left out: the row has its sample. */
  durationMs?: number;
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

export interface ModelUsage extends SampleUsage {
  invocations: number;
  /** Null: a request had no price. */
  costNanoDollars: number | null;
}

export interface ShownRun {
  id: string;
  evalId: string;
  comparisonId: string | null;
  status: AnswerOf<typeof EvalRun>["status"];
  model: string;
  name: string;
  createdAt: number;
  endedAt: number | null;
  counts: { total: number; errored: number; failed: number; passed: number };
  usage: ReadonlyMap<string, ModelUsage>;
  sampling: { costNanoDollars: number | null; meanDurationMs: number | null };
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
    comparison_id: run.comparisonId,
    status: run.status,
    model: run.model,
    name: run.name,
    created_at: toSeconds(run.createdAt),
    ended_at: toSecondsOrNull(run.endedAt),
    report_url: `${origin}/#/evals/${run.evalId}?run=${run.id}`,
    result_counts: run.counts,
    per_model_usage: [...run.usage].map(([model, usage]) => ({
      model_name: model,
      invocation_count: usage.invocations,
      ...toTokens(usage),
      cost_usd: inDollars(usage.costNanoDollars),
    })),
    per_testing_criteria_results: run.criteria.map(({ name, passed, failed, meanScore }) => ({
      testing_criteria: name,
      passed,
      failed,
      mean_score: meanScore,
    })),
    sampling: { cost_usd: inDollars(run.sampling.costNanoDollars), mean_duration_ms: run.sampling.meanDurationMs },
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
      usage: toTokens(sample.usage),
      ...toParameters(sample.parameters),
      cost_usd: inDollars(sample.costNanoDollars ?? null),
      duration_ms: sample.durationMs ?? null,
      error: sample.error ?? null,
    },
  };
}

/** Temperature and `top_p` have defaults in OpenAI's API. */
function toParameters({ temperature = 1, topP = 1, maxCompletionTokens, seed }: SamplingParameters = {}) {
  return { temperature, top_p: topP, max_completion_tokens: maxCompletionTokens, seed };
}

function toTokens({ promptTokens, completionTokens, cachedTokens }: SampleUsage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cached_tokens: cachedTokens,
  };
}
