/** Single runs of graders, without an eval: POST /v1/fine_tuning/alpha/graders/run and /validate. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { GraderResult, Sample } from "./eval-runs.ts";
import { Grader } from "./graders.ts";

export const GraderRunBody = named(
  "GraderRunBody",
  lazy.object(() => ({
    grader: Grader,
    model_sample: z
      .string()
      .max(200_000)
      .describe("`sample.output_text` of templates; of JSON, also `sample.output_json`."),
    item: z.record(z.string(), z.unknown()).optional().describe("`item` of templates."),
  })),
);

export const GraderValidateBody = named(
  "GraderValidateBody",
  lazy.object(() => ({ grader: Grader })),
);

export const GraderValidation = named(
  "GraderValidation",
  lazy.object(() => ({ grader: z.record(z.string(), z.unknown()).describe("As it was sent, with defaults.") })),
);

const flag = z.boolean();
const text = z.string().nullable();

export const GraderRun = named(
  "GraderRun",
  lazy.object(() => ({
    reward: z.number(),
    metadata: z.object({
      name: z.string(),
      type: z.string(),
      errors: z.object({
        formula_parse_error: flag,
        sample_parse_error: flag,
        truncated_observation_error: flag,
        unresponsive_reward_error: flag,
        invalid_variable_error: flag,
        other_error: flag,
        python_grader_server_error: flag,
        python_grader_server_error_type: text,
        python_grader_runtime_error: flag,
        python_grader_runtime_error_details: text,
        model_grader_server_error: flag,
        model_grader_refusal_error: flag,
        model_grader_parse_error: flag,
        model_grader_server_error_details: text,
      }),
      error: text.describe("What went wrong, if anything did. Not in OpenAI's API."),
      execution_time: z.number().describe("Seconds."),
      scores: z.record(z.string(), z.number()),
      token_usage: z.int().nullable(),
      sampled_model_name: text,
    }),
    sub_rewards: z.record(z.string(), z.number()),
    model_grader_token_usage_per_model: z.record(
      z.string(),
      z.object({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        total_tokens: z.int(),
        cached_tokens: z.int(),
      }),
    ),
  })),
);

interface EndedGraderRun {
  result: GraderResult;
  samples: readonly Sample[];
  seconds: number;
}

/** Values that templates of a grader read from the sample. */
export function sampleValues(modelSample: string): object {
  try {
    return { output_text: modelSample, output_json: JSON.parse(modelSample) };
  } catch {
    return { output_text: modelSample };
  }
}

export function toGraderRun({ result, samples, seconds }: EndedGraderRun): AnswerOf<typeof GraderRun> {
  const scores = scoresOf(result);
  const usage = usageByModel(samples);
  return {
    reward: result.score,
    metadata: {
      name: result.name,
      type: result.type,
      errors: { ...NO_ERRORS, ...errorsOf(result, samples) },
      error: result.error ?? null,
      execution_time: seconds,
      scores,
      token_usage:
        samples.length === 0 ? null : Object.values(usage).reduce((sum, { total_tokens: total }) => sum + total, 0),
      sampled_model_name: samples[0]?.model ?? null,
    },
    sub_rewards: scores,
    model_grader_token_usage_per_model: usage,
  };
}

const NO_ERRORS = {
  formula_parse_error: false,
  sample_parse_error: false,
  truncated_observation_error: false,
  unresponsive_reward_error: false,
  invalid_variable_error: false,
  other_error: false,
  python_grader_server_error: false,
  python_grader_server_error_type: null,
  python_grader_runtime_error: false,
  python_grader_runtime_error_details: null,
  model_grader_server_error: false,
  model_grader_refusal_error: false,
  model_grader_parse_error: false,
  model_grader_server_error_details: null,
};

function errorsOf(
  { error }: GraderResult,
  samples: readonly Sample[],
): Partial<AnswerOf<typeof GraderRun>["metadata"]["errors"]> {
  if (error === undefined) return {};
  const failed = samples.find((sample) => sample.error !== undefined);
  if (failed?.error !== undefined) {
    return { model_grader_server_error: true, model_grader_server_error_details: failed.error.message };
  }
  if (error.includes("'calculate_output'")) return { formula_parse_error: true };
  if (error.includes("The row has no value for")) return { invalid_variable_error: true };
  return samples.length > 0 ? { model_grader_parse_error: true } : { other_error: true };
}

function scoresOf({ type, sample }: GraderResult): Record<string, number> {
  const scores = type === "multi" ? (sample as { scores?: Record<string, number> } | undefined)?.scores : undefined;
  return scores ?? {};
}

function usageByModel(samples: readonly Sample[]): AnswerOf<typeof GraderRun>["model_grader_token_usage_per_model"] {
  const answered = samples.filter(({ error }) => error === undefined);
  return Object.fromEntries(
    [...Map.groupBy(answered, ({ model }) => model)].map(([model, ofModel]) => {
      const sum = (name: keyof Sample["usage"]) => ofModel.reduce((total, { usage }) => total + usage[name], 0);
      const [prompt_tokens, completion_tokens] = [sum("promptTokens"), sum("completionTokens")];
      const total_tokens = prompt_tokens + completion_tokens;
      return [model, { prompt_tokens, completion_tokens, total_tokens, cached_tokens: sum("cachedTokens") }];
    }),
  );
}
