/** Grades a sample. */

import { mapSomeAtATime } from "../../kernel/async/map-some-at-a-time.ts";
import { contains } from "../../kernel/contains.ts";
import type { GraderResult, Sample } from "../../wire/openai/evals/eval-runs.ts";
import { fillTemplate, type TemplateValues, templateFiller } from "../../wire/openai/evals/fill-template.ts";
import { evaluateFormula } from "../../wire/openai/evals/formula.ts";
import type { Grader, GraderInput, SingleGrader } from "../../wire/openai/evals/graders.ts";
import { cosine } from "../../wire/openai/evals/text-similarity.ts";
import { ask, type ModelCalls, sampleFrom } from "./ask-model.ts";

import type { SimilarityBudget } from "./similarity-budget.ts";

type Of<Type extends SingleGrader["type"]> = Extract<SingleGrader, { type: Type }>;

export interface GraderCalls extends ModelCalls {
  /** Limits of the graders of one row. */
  similarities: SimilarityBudget;
}

export interface Graded {
  result: GraderResult;
  /** Samples of the models that graded, for usage. */
  samples: readonly Sample[];
}

/** Graders of one row at the same time: each may hold a request of megabytes. */
const CONCURRENCY = 4;

/** Grades a row by each of the graders. Never throws but the signal's reason. */
export function gradeByEach(calls: GraderCalls, graders: readonly Grader[], values: TemplateValues): Promise<Graded[]> {
  return mapSomeAtATime(graders, CONCURRENCY, (each) => grade(calls, each, values));
}

/** Never throws but the signal's reason: what a grader cannot decide is an error of its result. */
export async function grade(calls: GraderCalls, grader: Grader, values: TemplateValues): Promise<Graded> {
  const { name, type } = grader;
  try {
    return await (grader.type === "multi" ? gradeAll(calls, grader, values) : gradeOne(calls, grader, values));
  } catch (failure) {
    calls.signal.throwIfAborted();
    const error = failure instanceof Error ? failure.message : String(failure);
    return { result: { name, type, score: 0, passed: false, error }, samples: [] };
  }
}

async function gradeOne(calls: GraderCalls, grader: SingleGrader, values: TemplateValues): Promise<Graded> {
  switch (grader.type) {
    case "string_check":
      return { result: checkString(grader, values), samples: [] };
    case "text_similarity":
      return gradeSimilarity(calls, grader, values);
    case "label_model":
      return gradeLabel(calls, grader, values);
    case "score_model":
      return gradeScore(calls, grader, values);
  }
}

async function gradeAll(calls: GraderCalls, grader: Extract<Grader, { type: "multi" }>, values: TemplateValues) {
  const entries = Object.entries(grader.graders);
  const graded = await mapSomeAtATime(entries, CONCURRENCY, ([, each]) => gradeOne(calls, each, values));
  const samples = graded.flatMap((each) => each.samples);
  const failed = graded.find(({ result }) => result.error !== undefined);
  const { name, type } = grader;
  if (failed !== undefined) {
    const error = `${failed.result.name}: ${failed.result.error}`;
    return { result: { name, type, score: 0, passed: false, error }, samples };
  }
  const scores = Object.fromEntries(entries.map(([key], index) => [key, graded[index]?.result.score ?? 0]));
  const score = finite(evaluateFormula(grader.calculate_output, scores));
  return { result: { name, type, score, passed: score >= grader.pass_threshold, sample: { scores } }, samples };
}

function checkString(
  { name, type, input, reference, operation }: Of<"string_check">,
  values: TemplateValues,
): GraderResult {
  const [text, expected] = [fillTemplate(input, values), fillTemplate(reference, values)];
  const passed = {
    eq: () => text === expected,
    ne: () => text !== expected,
    like: () => contains(text, expected),
    ilike: () => contains(text.toLowerCase(), expected.toLowerCase()),
  }[operation]();
  return { name, type, score: passed ? 1 : 0, passed };
}

async function gradeSimilarity(
  calls: GraderCalls,
  grader: Of<"text_similarity">,
  values: TemplateValues,
): Promise<Graded> {
  const { name, type, evaluation_metric: metric } = grader;
  const candidate = fillTemplate(grader.input, values);
  const reference = fillTemplate(grader.reference, values);
  const score =
    metric === "cosine"
      ? await cosineOf(calls, grader.embedding_model, [candidate, reference])
      : await calls.similarities.similarity({ metric, candidate, reference }, calls.signal);
  return { result: { name, type, score, passed: score >= grader.pass_threshold }, samples: [] };
}

async function cosineOf(calls: ModelCalls, model: string, input: readonly [string, string]): Promise<number> {
  const { status, body } = await ask(calls, "/v1/embeddings", { model, input, encoding_format: "float" });
  if (status !== 200) throw new Error(String(body?.error?.message ?? `The embeddings failed with ${status}.`));
  const [one, other] = body.data.map(({ embedding }: { embedding: number[] }) => embedding);
  return cosine(one, other);
}

async function gradeLabel(calls: ModelCalls, grader: Of<"label_model">, values: TemplateValues): Promise<Graded> {
  const { name, type, labels } = grader;
  const schema = objectWith({ label: { type: "string", enum: labels } });
  const { sample, answer } = await askGrader(calls, grader.model, grader.input, values, { name: "label", schema }, {});
  if (sample.error !== undefined) return failed(name, type, sample);
  const label = answer?.label ?? labels.find((each) => sample.outputText.trim() === each);
  if (typeof label !== "string" || !labels.includes(label)) {
    return failed(name, type, sample, `The model answered no label: ${sample.outputText.slice(0, 200)}`);
  }
  const passed = grader.passing_labels.includes(label);
  return { result: { name, type, score: passed ? 1 : 0, passed, sample: { label } }, samples: [sample] };
}

async function gradeScore(calls: ModelCalls, grader: Of<"score_model">, values: TemplateValues): Promise<Graded> {
  const { name, type, range, sampling_params: params } = grader;
  const [min = 0, max = 1] = range;
  const schema = objectWith({ reasoning: { type: "string" }, score: { type: "number", minimum: min, maximum: max } });
  const { max_completions_tokens: maxTokens, ...sampling } = params ?? {};
  const settings = { ...withoutNull(sampling), ...(maxTokens != null && { max_completion_tokens: maxTokens }) };
  const { sample, answer } = await askGrader(
    calls,
    grader.model,
    grader.input,
    values,
    { name: "score", schema },
    settings,
  );
  if (sample.error !== undefined) return failed(name, type, sample);
  const score = Number(answer?.score ?? sample.outputText.trim());
  if (!Number.isFinite(score) || sample.outputText.trim() === "" || score < min || score > max) {
    return failed(
      name,
      type,
      sample,
      `The model answered no score from ${min} to ${max}: ${sample.outputText.slice(0, 200)}`,
    );
  }
  const passed = score >= (grader.pass_threshold ?? (min + max) / 2);
  const reasoning = typeof answer?.reasoning === "string" ? { reasoning: answer.reasoning } : {};
  return { result: { name, type, score, passed, sample: { score, ...reasoning } }, samples: [sample] };
}

async function askGrader(
  calls: ModelCalls,
  model: string,
  input: GraderInput,
  values: TemplateValues,
  { name, schema }: { name: string; schema: object },
  settings: object,
) {
  const fill = templateFiller(values);
  const messages = input.map(({ role, content }) => ({
    role,
    content: fill(typeof content === "string" ? content : content.text),
  }));
  const format = { type: "json_schema", json_schema: { name, schema, strict: true } };
  const body = { model, messages, response_format: format, ...settings };
  let sample = await sampleFrom(calls, "/v1/chat/completions", body, messages);
  if (sample.error?.code === "unsupported_value") {
    // The model has no schemas: its instructions have to say what to answer.
    const { response_format: _format, ...plain } = body;
    sample = await sampleFrom(calls, "/v1/chat/completions", plain, messages);
  }
  return { sample, answer: parseObject(sample.outputText) };
}

function failed(name: string, type: string, sample: Sample, message?: string): Graded {
  const error = message ?? sample.error?.message ?? "";
  return { result: { name, type, score: 0, passed: false, error }, samples: [sample] };
}

function objectWith(properties: Record<string, object>): object {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function withoutNull(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function finite(score: number): number {
  if (Number.isFinite(score)) return score;
  throw new Error(`'calculate_output' is ${score}.`);
}
