/** One run: samples and grades each row that has no item yet, some at a time. */

import { newId } from "../../kernel/id.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import type { Database } from "../../storage/database.ts";
import type {
  EvalDefinition,
  EvalRowInput,
  GraderResult,
  RunDataSource,
  Sample,
  SampleUsage,
} from "../../wire/openai/evals/evals.ts";
import { fillTemplate, type TemplateValues, valueAt } from "../../wire/openai/evals/fill-template.ts";
import { type ModelCalls, sampleFrom } from "./ask-model.ts";
import { addItem, type ClaimedRun, listSummaries, updateLeasedRun } from "./eval-queries.ts";
import type { EvalItemRow } from "./eval-rows.ts";
import { grade } from "./grade.ts";

/** What sums over items need, without any content. */
export interface ItemSummary {
  /** By the position of the criterion. */
  results: { passed: boolean; score: number }[];
  usage: (SampleUsage & { model: string })[];
}

/** What an item stores encrypted. */
export interface ItemContent {
  item: Readonly<Record<string, unknown>>;
  sample: Sample;
  results: readonly GraderResult[];
}

export interface EvalRunOptions {
  database: Database;
  seal: (place: { projectId: string; id: string }, value: unknown) => Buffer;
  run: ClaimedRun;
  definition: EvalDefinition;
  source: RunDataSource;
  rows: readonly EvalRowInput[];
  calls: ModelCalls;
}

/** Rows of one run at the same time; slots for batches bound how many of them a model answers. */
const CONCURRENCY = 4;

/** Ends as `over` also when the run was cancelled or deleted, or another process has it. */
export async function runEval(options: EvalRunOptions): Promise<JobEnd> {
  const { database, run, rows, calls } = options;
  const done = new Set(
    (await database.run((executor) => listSummaries(executor, run.id))).map(({ position }) => position),
  );
  const remaining = rows.keys().filter((position) => !done.has(position));
  const stopping = new AbortController();
  const signal = AbortSignal.any([calls.signal, stopping.signal]);
  let isOwned = await database.run((executor) => updateLeasedRun(executor, run, { total: rows.length }));
  const work = async () => {
    for (const position of remaining) {
      if (!isOwned) return;
      const item = await toItem({ ...options, calls: { ...calls, signal } }, position);
      isOwned = await database.transaction((executor) => addItem(executor, run, item));
      if (!isOwned) stopping.abort(new Error("the run has ended"));
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: CONCURRENCY }, work));
  if (!isOwned) return "over";
  if (calls.signal.aborted) return "interrupted";
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  await database.run((executor) => updateLeasedRun(executor, run, { status: "completed", endedAt: Date.now() }));
  return "over";
}

async function toItem(
  { run, definition, source, rows, calls, seal }: EvalRunOptions,
  position: number,
): Promise<EvalItemRow> {
  const { item, sample: given } = rows[position] as EvalRowInput;
  const sample = await sampleOf(source, { item }, given ?? undefined, calls);
  const values: TemplateValues = { item, sample: { ...given, ...templateValuesOf(sample) } };
  const graded =
    sample.error === undefined
      ? await Promise.all(definition.testingCriteria.map((grader) => grade(calls, grader, values)))
      : [];
  const results = graded.map(({ result }) => result);
  const hasFailed = sample.error !== undefined || results.some(({ error }) => error !== undefined);
  const status = hasFailed ? "error" : results.every(({ passed }) => passed) ? "pass" : "fail";
  const ownUsage = source.type === "jsonl" || sample.error !== undefined ? [] : [sample];
  const usage = [...ownUsage, ...graded.flatMap(({ samples }) => samples)];
  const summary: ItemSummary = {
    results: results.map(({ passed, score }) => ({ passed, score })),
    usage: usage.map((each) => ({ model: each.model, ...each.usage })),
  };
  const id = newId("outputitem_");
  const content: ItemContent = { item, sample, results };
  return {
    ...{ runId: run.id, position, id, status, createdAt: Date.now() },
    summary: JSON.stringify(summary),
    content: seal({ projectId: run.projectId, id }, content),
  };
}

/** Asks the model of the source, or takes the sample of the row. */
async function sampleOf(
  source: RunDataSource,
  values: TemplateValues,
  given: Readonly<Record<string, unknown>> | undefined,
  calls: ModelCalls,
): Promise<Sample> {
  if (source.type === "jsonl") {
    const outputText = typeof given?.output_text === "string" ? given.output_text : "";
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    return { input: [], outputText, finishReason: "stop", model: String(given?.model ?? ""), usage, error: undefined };
  }
  try {
    const messages = messagesOf(source.input_messages, values);
    const prompt = source.prompt && { ...source.prompt, variables: filled(source.prompt.variables, values) };
    const common = { ...source.sampling_params, ...(source.model !== undefined && { model: source.model }) };
    const named = { ...common, ...(prompt !== undefined && { prompt }) };
    return source.type === "responses"
      ? await sampleFrom(calls, "/v1/responses", { ...named, input: messages, store: false }, messages)
      : await sampleFrom(calls, "/v1/chat/completions", { ...named, messages }, messages);
  } catch (failure) {
    calls.signal.throwIfAborted();
    const message = failure instanceof Error ? failure.message : String(failure);
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    const error = { code: "invalid_row", message };
    return { input: [], outputText: "", finishReason: "error", model: source.model ?? "", usage, error };
  }
}

function messagesOf(
  input: Extract<RunDataSource, { type: "completions" }>["input_messages"],
  values: TemplateValues,
): { role: string; content: string }[] {
  if (input === undefined) return [];
  if (input.type === "item_reference") {
    const messages = valueAt(input.item_reference, values);
    if (Array.isArray(messages)) return messages as { role: string; content: string }[];
    return [{ role: "user", content: typeof messages === "string" ? messages : JSON.stringify(messages) }];
  }
  return input.template.map(({ role, content }) => ({
    role,
    content: fillTemplate(typeof content === "string" ? content : content.text, values),
  }));
}

function filled(variables: Readonly<Record<string, unknown>> | null | undefined, values: TemplateValues) {
  return Object.fromEntries(
    Object.entries(variables ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" ? fillTemplate(value, values) : value,
    ]),
  );
}

function templateValuesOf({ outputText, input, model, finishReason }: Sample): object {
  let json: unknown;
  try {
    json = JSON.parse(outputText);
  } catch {
    json = undefined;
  }
  return {
    output_text: outputText,
    ...(json !== undefined && { output_json: json }),
    ...{ input, model, finish_reason: finishReason },
  };
}
