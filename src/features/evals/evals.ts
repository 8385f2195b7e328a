/** Evals, their runs and the results. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type {
  EvalDefinition,
  EvalRowInput,
  RunDataSource,
  SampleUsage,
  ShownRun,
} from "../../wire/openai/evals/evals.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { LineRequests } from "../batches/line-requests.ts";
import type { FileStore } from "../files/file-store.ts";
import type { SealedRows } from "../responses/sealed-rows.ts";
import type { ProjectResource } from "../responses/stored-response-queries.ts";
import { startEvalJobs } from "./eval-jobs.ts";
import {
  type ClaimedRun,
  cancelRun,
  deleteEval,
  deleteRun,
  findEval,
  findItem,
  findRun,
  insertEval,
  insertRun,
  listEvals,
  listItems,
  listRuns,
  listSummaries,
  type RunReference,
  updateEval,
  updateLeasedRun,
} from "./eval-queries.ts";
import type { EvalItemRow, EvalRow, EvalRunRow } from "./eval-rows.ts";
import { type ItemContent, type ItemSummary, runEval } from "./eval-run.ts";
import { readRows } from "./read-rows.ts";

export interface EvalsOptions {
  database: Database;
  logger: Logger;
  files: Pick<FileStore, "find" | "readStored">;
  /** Undefined: there is no key to encrypt content with. */
  content: SealedRows | undefined;
  accounts: Pick<Accounts, "callerOfKey">;
  requests: Pick<LineRequests, "run">;
}

export interface Eval extends Omit<EvalRow, "definition" | "metadata"> {
  definition: EvalDefinition;
  metadata: Readonly<Record<string, string>> | null;
}

export type OutputItem = Omit<EvalItemRow, "content" | "summary"> & ItemContent & { evalId: string };

type MetadataInput = Readonly<Record<string, string>> | null | undefined;

export class Evals {
  readonly #options: EvalsOptions;
  #jobs: JobRunner<ClaimedRun> | undefined;

  constructor(options: EvalsOptions) {
    this.#options = options;
  }

  /** Starts to run, including unfinished runs of earlier processes. */
  start(): void {
    const { database, logger, content } = this.#options;
    if (content === undefined) return;
    this.#jobs = startEvalJobs({ database, logger, run: (run, signal) => this.#run(run, signal, content) });
  }

  drain(): void {
    this.#jobs?.drain();
  }

  async close(): Promise<void> {
    await this.#jobs?.close();
  }

  async create(
    { projectId, keyId }: { projectId: string; keyId: string },
    { name, metadata, definition }: { name: string | undefined; metadata: MetadataInput; definition: EvalDefinition },
  ): Promise<Eval> {
    this.#requireContent();
    const id = newId("eval_");
    const row: EvalRow = {
      ...{ id, projectId, name: name ?? id, definition: JSON.stringify(definition) },
      ...{ metadata: toText(metadata), createdBy: keyId, createdAt: Date.now() },
    };
    await this.#options.database.run((executor) => insertEval(executor, row));
    return toEval(row);
  }

  async list(page: PageRequest & { projectId: string }): Promise<Page<Eval>> {
    const { entries, hasMore } = await this.#options.database.run((executor) => listEvals(executor, page));
    return { entries: entries.map(toEval), hasMore };
  }

  /** Throws a Fault when the project has no such eval. */
  async find(resource: ProjectResource): Promise<Eval> {
    return this.#options.database.run(async (executor) => toEval(await requireEval(executor, resource)));
  }

  async update(
    resource: ProjectResource,
    change: { name?: string | undefined; metadata?: MetadataInput },
  ): Promise<Eval> {
    return this.#options.database.transaction(async (executor) => {
      const row = await requireEval(executor, resource);
      const { name = row.name } = change;
      const metadata = change.metadata === undefined ? row.metadata : toText(change.metadata);
      await updateEval(executor, row.id, { name, metadata });
      return toEval({ ...row, name, metadata });
    });
  }

  /** Deletes an eval with its runs and results. */
  async delete(resource: ProjectResource): Promise<void> {
    await this.#options.database.transaction(async (executor) => {
      await requireEval(executor, resource);
      await deleteEval(executor, resource.id);
    });
  }

  /** Starts a run. Throws a Fault when the eval or the file does not exist. */
  async createRun(
    { projectId, keyId, evalId }: { projectId: string; keyId: string; evalId: string },
    { name, metadata, source }: { name: string | undefined; metadata: MetadataInput; source: RunDataSource },
  ): Promise<ShownRun> {
    const content = this.#requireContent();
    const { database, files } = this.#options;
    await this.find({ projectId, id: evalId });
    checkSource(source);
    if (source.source.type === "file_id") await files.find({ projectId, id: source.source.id });
    const id = newId("evalrun_");
    const row: EvalRunRow = {
      ...{ id, evalId, projectId, keyId, name: name ?? id, status: "queued", total: 0, error: null },
      model: source.type === "jsonl" ? "" : (source.model ?? source.prompt?.id ?? ""),
      source: content.seal({ table: "eval run", projectId, id }, source),
      ...{ metadata: toText(metadata), createdAt: Date.now(), endedAt: null, leaseId: null, dueAt: 0 },
    };
    await database.run((executor) => insertRun(executor, row));
    this.#jobs?.wake();
    return this.#show(row);
  }

  async listRuns(resource: ProjectResource, page: PageRequest): Promise<Page<ShownRun>> {
    const { entries, hasMore } = await this.#options.database.run(async (executor) => {
      await requireEval(executor, resource);
      return listRuns(executor, resource.id, page);
    });
    return { entries: await Promise.all(entries.map((row) => this.#show(row))), hasMore };
  }

  async findRun(reference: RunReference): Promise<ShownRun> {
    return this.#show(await this.#options.database.run((executor) => requireRun(executor, reference)));
  }

  async cancelRun(reference: RunReference): Promise<ShownRun> {
    await this.#options.database.transaction(async (executor) => {
      const { id } = await requireRun(executor, reference);
      await cancelRun(executor, id, Date.now());
    });
    return this.findRun(reference);
  }

  async deleteRun(reference: RunReference): Promise<void> {
    await this.#options.database.transaction(async (executor) => {
      await deleteRun(executor, (await requireRun(executor, reference)).id);
    });
  }

  async listItems(
    reference: RunReference,
    page: PageRequest & { status: EvalItemRow["status"] | undefined },
  ): Promise<Page<OutputItem>> {
    const { entries, hasMore } = await this.#options.database.run(async (executor) => {
      const { id } = await requireRun(executor, reference);
      return listItems(executor, id, page);
    });
    return { entries: entries.map((row) => this.#openItem(reference, row)), hasMore };
  }

  async findItem(reference: RunReference, id: string): Promise<OutputItem> {
    const row = await this.#options.database.run(async (executor) => {
      const run = await requireRun(executor, reference);
      return findItem(executor, run.id, id);
    });
    if (row === undefined) throw notFound("output item", id);
    return this.#openItem(reference, row);
  }

  #openItem({ projectId, evalId }: RunReference, { content, summary: _summary, ...row }: EvalItemRow): OutputItem {
    const place = { table: "eval item", projectId, id: row.id } as const;
    return { ...row, evalId, ...this.#requireContent().open<ItemContent>(place, content) };
  }

  async #show(row: EvalRunRow): Promise<ShownRun> {
    const { database } = this.#options;
    const { definition } = await this.find({ projectId: row.projectId, id: row.evalId });
    const summaries = await database.run((executor) => listSummaries(executor, row.id));
    const place = { table: "eval run", projectId: row.projectId, id: row.id } as const;
    const countOf = (status: EvalItemRow["status"]) => summaries.filter((each) => each.status === status).length;
    const parsed = summaries.map(({ summary }) => JSON.parse(summary) as ItemSummary);
    return {
      ...row,
      counts: { total: row.total, passed: countOf("pass"), failed: countOf("fail"), errored: countOf("error") },
      usage: sumUsage(parsed),
      criteria: definition.testingCriteria.map(({ name }, index) => {
        const results = parsed.flatMap(({ results: all }) => all[index] ?? []);
        const passed = results.filter((result) => result.passed).length;
        const total = results.reduce((sum, { score }) => sum + score, 0);
        const meanScore = results.length === 0 ? null : total / results.length;
        return { name, passed, failed: results.length - passed, meanScore };
      }),
      source: this.#requireContent().open<RunDataSource>(place, row.source),
      error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
      metadata: fromText(row.metadata),
    };
  }

  async #run(run: ClaimedRun, signal: AbortSignal, content: SealedRows): Promise<JobEnd> {
    const { database, files, accounts, requests } = this.#options;
    const { projectId, id } = run;
    const fail = async (code: string, message: string): Promise<JobEnd> => {
      const change = { status: "failed", error: JSON.stringify({ code, message }), endedAt: Date.now() } as const;
      await database.run((executor) => updateLeasedRun(executor, run, change));
      return "over";
    };
    const caller = await accounts.callerOfKey(run.keyId, "batch");
    if (caller === undefined) return fail("invalid_api_key", "The key that created the run no longer works.");
    const definition = await this.find({ projectId, id: run.evalId });
    const source = content.open<RunDataSource>({ table: "eval run", projectId, id }, run.source);
    let rows: readonly EvalRowInput[];
    try {
      rows = await readRows(files, projectId, source.source);
    } catch (failure) {
      if (!(failure instanceof Fault) || failure.kind === "unavailable") throw failure;
      return fail(failure.code ?? "invalid_source", failure.message);
    }
    return runEval({
      ...{ database, run, source, rows, definition: definition.definition },
      seal: (place, value) => content.seal({ table: "eval item", ...place }, value),
      calls: { requests, caller, signal },
    });
  }

  #requireContent(): SealedRows {
    const { content } = this.#options;
    if (content !== undefined) return content;
    const message =
      "Evals store prompts and answers encrypted, and this service has no key: set PARLANCE_ENCRYPTION_KEY.";
    throw new Fault("invalid-request", message, { code: "evals_unavailable" });
  }
}

/** Throws a Fault for a source that has nothing to sample. */
function checkSource(source: RunDataSource): void {
  if (source.type === "jsonl") return;
  if (source.model === undefined && source.prompt === undefined) {
    throw invalidRequest(
      "'data_source' needs 'model', or a 'prompt' that has one.",
      "data_source.model",
      "missing_required_parameter",
    );
  }
  if (source.input_messages === undefined && source.prompt === undefined) {
    const message = "'data_source' needs 'input_messages', or a 'prompt'.";
    throw invalidRequest(message, "data_source.input_messages", "missing_required_parameter");
  }
}

function sumUsage(summaries: readonly ItemSummary[]): Map<string, SampleUsage & { invocations: number }> {
  const sums = new Map<string, SampleUsage & { invocations: number }>();
  for (const { model, promptTokens, completionTokens, cachedTokens } of summaries.flatMap(({ usage }) => usage)) {
    const sum = sums.get(model) ?? { invocations: 0, promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    sum.invocations += 1;
    sum.promptTokens += promptTokens;
    sum.completionTokens += completionTokens;
    sum.cachedTokens += cachedTokens;
    sums.set(model, sum);
  }
  return sums;
}

async function requireEval(executor: Executor, resource: ProjectResource): Promise<EvalRow> {
  const row = await findEval(executor, resource);
  if (row === undefined) throw notFound("eval", resource.id);
  return row;
}

async function requireRun(executor: Executor, reference: RunReference): Promise<EvalRunRow> {
  const row = await findRun(executor, reference);
  if (row === undefined) throw notFound("run", reference.id);
  return row;
}

function notFound(kind: string, id: string): Fault {
  return new Fault("not-found", `The project has no ${kind} '${id.slice(0, 100)}'.`);
}

function toEval({ definition, metadata, ...row }: EvalRow): Eval {
  return { ...row, definition: JSON.parse(definition) as EvalDefinition, metadata: fromText(metadata) };
}

function toText(metadata: MetadataInput): string | null {
  return metadata == null ? null : JSON.stringify(metadata);
}

function fromText(metadata: string | null): Readonly<Record<string, string>> | null {
  return metadata === null ? null : (JSON.parse(metadata) as Record<string, string>);
}
