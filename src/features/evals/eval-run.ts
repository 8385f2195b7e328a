/** One run: samples and grades each row that has no item yet, some at a time. */

import type { Caller } from "../../contracts/caller.ts";
import { newId } from "../../kernel/id.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import type { Database } from "../../storage/database.ts";
import type { StoredBytes } from "../../storage/stored-bytes.ts";
import { isStored, type RunDataSource, type SampledDataSource } from "../../wire/openai/evals/data-source.ts";
import {
  type GraderResult,
  NO_SAMPLE_USAGE,
  type Sample,
  type SampleUsage,
} from "../../wire/openai/evals/eval-runs.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";
import { type TemplateValues, templateFiller, valueAt } from "../../wire/openai/evals/fill-template.ts";
import { toSaid } from "../../wire/openai/evals/messages-of.ts";
import { type ModelCalls, sampleFrom } from "./ask-model.ts";
import { KeyEnded, RunRefused } from "./eval-faults.ts";
import { addItem, type ClaimedRun, listSummaries, updateLeasedRun } from "./eval-queries.ts";
import type { EvalItemRow } from "./eval-rows.ts";
import { gradeByEach } from "./grade.ts";
import type { RefusedRuns } from "./refused-runs.ts";
import { RowStopped, RowsInFlight } from "./rows-in-flight.ts";
import { SimilarityBudget } from "./similarity-budget.ts";
import type { RunRow } from "./stored-rows.ts";

/** What sums over items need, without any content. */
export interface ItemSummary {
  /** By the position of the criterion. */
  results: { passed: boolean; score: number }[];
  usage: (SampleUsage & { model: string; costNanoDollars?: number | null })[];
  /** Time of the sample; left out for one that the row has. */
  durationMs?: number | undefined;
  /** Cost of the sample; null: its model has no price. */
  costNanoDollars?: number | null | undefined;
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
  rows: {
    count: number;
    /** Undefined: the row was deleted since. */
    read: (position: number) => Promise<RunRow | undefined>;
  };
  storedBytes: Pick<StoredBytes, "add" | "checkRoom">;
  calls: RunCalls;
  refusedRuns: RefusedRuns;
}

interface RunCalls extends Omit<ModelCalls, "callerOf"> {
  /** Undefined once the key of the run has ended. */
  callerOf: () => Promise<Caller | undefined>;
}

interface RowOptions extends Omit<EvalRunOptions, "calls"> {
  calls: ModelCalls;
}

/** Rows of one run at the same time; slots for batches bound how many of them a model answers. */
const CONCURRENCY = 4;

/**
 * Ends as `over` also when the run was cancelled or deleted, or another process has it; to be run later when all rows
 * wait for limits or busy models. Throws a KeyEnded, a RunRefused, what keeps the key from being checked, and a Fault
 * when the project has no room.
 */
export async function runEval(options: EvalRunOptions): Promise<JobEnd> {
  const { database, run, rows, calls, storedBytes, refusedRuns } = options;
  const done = new Set(
    (await database.run((executor) => listSummaries(executor, run.id))).map(({ position }) => position),
  );
  const remaining = new Array(rows.count).keys().filter((position) => !done.has(position));
  const stopping = new AbortController();
  const signal = AbortSignal.any([calls.signal, stopping.signal]);
  const callerOf = async () => {
    try {
      const caller = await calls.callerOf();
      if (caller !== undefined) return caller;
      throw new KeyEnded();
    } catch (failure) {
      // It ends the run, not only the row that asked first, whose graders would record it as their own failure.
      stopping.abort(failure);
      throw failure;
    }
  };
  let isOwned = await database.run((executor) => updateLeasedRun(executor, run, { total: rows.count }));
  const inFlight = new RowsInFlight();
  const work = async () => {
    for (const position of remaining) {
      if (!isOwned || inFlight.end !== undefined) return;
      // Before the model is asked, which costs money.
      await storedBytes.checkRoom(run.projectId);
      const item = await inFlight.run({ ...calls, callerOf, signal }, (ofRow) =>
        toItem({ ...options, calls: ofRow }, position),
      );
      isOwned = await database.transaction((executor) => addItem(executor, run, item));
      if (!isOwned) return stopping.abort(new Error("the run has ended"));
      storedBytes.add(run.projectId, item.content.length);
      done.add(position);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: CONCURRENCY }, work));
  if (!isOwned) return "over";
  if (calls.signal.aborted) return "interrupted";
  stopping.signal.throwIfAborted();
  const failed = outcomes.find(
    (outcome): outcome is PromiseRejectedResult =>
      outcome.status === "rejected" && !(outcome.reason instanceof RowStopped),
  );
  if (failed !== undefined) throw failed.reason;
  if (inFlight.end !== undefined && done.size < rows.count) {
    const { retryAfterMs, refusal } = inFlight.end;
    if (refusedRuns.note(run.id, done.size)) throw new RunRefused(refusal);
    return { retryAfterMs };
  }
  await database.run((executor) => updateLeasedRun(executor, run, { status: "completed", endedAt: Date.now() }));
  return "over";
}

async function toItem(
  { run, definition, source, rows, calls, seal }: RowOptions,
  position: number,
): Promise<EvalItemRow> {
  const row = await rows.read(position);
  const item = row?.item ?? {};
  const sample = row === undefined ? failedSample("row_deleted", DELETED) : await sampleOf(source, row, calls);
  const values: TemplateValues = { item, sample: { ...row?.sample, ...templateValuesOf(sample) } };
  const graderCalls = { ...calls, similarities: new SimilarityBudget(run.projectId) };
  const graded = sample.error === undefined ? await gradeByEach(graderCalls, definition.testingCriteria, values) : [];
  const results = graded.map(({ result }) => result);
  const hasFailed = sample.error !== undefined || results.some(({ error }) => error !== undefined);
  const status = hasFailed ? "error" : results.every(({ passed }) => passed) ? "pass" : "fail";
  const isSampled = sample.durationMs !== undefined && sample.error === undefined;
  const usage = [...(isSampled ? [sample] : []), ...graded.flatMap(({ samples }) => samples)];
  const summary: ItemSummary = {
    results: results.map(({ passed, score }) => ({ passed, score })),
    usage: usage.map((each) => ({ model: each.model, ...each.usage, costNanoDollars: each.costNanoDollars ?? null })),
    ...(isSampled && { durationMs: sample.durationMs, costNanoDollars: sample.costNanoDollars ?? null }),
  };
  const id = newId("outputitem_");
  const content: ItemContent = { item, sample, results };
  return {
    ...{ runId: run.id, position, id, status, createdAt: Date.now() },
    summary: JSON.stringify(summary),
    content: seal({ projectId: run.projectId, id }, content),
    organizationId: row?.organizationId ?? null,
    authorKeyId: row?.authorKeyId ?? null,
    endUser: row?.endUser ?? null,
  };
}

const DELETED = "The stored answer was deleted after the run had begun.";

/** Asks the model of the source, or takes the sample of the row. */
async function sampleOf(source: RunDataSource, row: RunRow, calls: ModelCalls): Promise<Sample> {
  const { item, sample } = row;
  if (source.type === "jsonl" || (source.model === undefined && source.prompt === undefined)) {
    const outputText = typeof sample?.output_text === "string" ? sample.output_text : "";
    const input = Array.isArray(item.input) ? toSaid(item.input) : [];
    const model = String(sample?.model ?? "");
    return { input, outputText, finishReason: "stop", model, usage: NO_SAMPLE_USAGE, error: undefined };
  }
  try {
    const values = { item };
    const messages = messagesOf(source, values);
    const prompt = source.prompt && { ...source.prompt, variables: filled(source.prompt.variables, values) };
    const common = { ...source.sampling_params, ...(source.model !== undefined && { model: source.model }) };
    const named = { ...common, ...(prompt !== undefined && { prompt }) };
    const input = toSaid(messages);
    return source.type === "responses"
      ? await sampleFrom(calls, "/v1/responses", { ...named, input: messages, store: false }, input)
      : await sampleFrom(calls, "/v1/chat/completions", { ...named, messages }, input);
  } catch (failure) {
    calls.signal.throwIfAborted();
    return failedSample("invalid_row", failure instanceof Error ? failure.message : String(failure), source.model);
  }
}

function failedSample(code: string, message: string, model = ""): Sample {
  const error = { code, message };
  return { input: [], outputText: "", finishReason: "error", model, usage: NO_SAMPLE_USAGE, error };
}

/** Messages for a model; those of stored answers are what they were asked with. */
function messagesOf({ source, prompt, input_messages: input }: SampledDataSource, values: TemplateValues): unknown[] {
  if (input === undefined) {
    return isStored(source) && prompt === undefined ? (valueAt("item.input", values) as unknown[]) : [];
  }
  if (input.type === "item_reference") {
    const messages = valueAt(input.item_reference, values);
    if (Array.isArray(messages)) return messages;
    return [{ role: "user", content: typeof messages === "string" ? messages : JSON.stringify(messages) }];
  }
  const fill = templateFiller(values);
  return input.template.map(({ role, content }) => ({
    role,
    content: fill(typeof content === "string" ? content : content.text),
  }));
}

function filled(variables: Readonly<Record<string, unknown>> | null | undefined, values: TemplateValues) {
  const fill = templateFiller(values);
  return Object.fromEntries(
    Object.entries(variables ?? {}).map(([name, value]) => [name, typeof value === "string" ? fill(value) : value]),
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
