/** Runs of evals: started alone or in comparisons, run as jobs, read with their results. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { InternalRequests } from "../../http/internal-requests.ts";
import { Fault } from "../../kernel/faults.ts";
import type { JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { StoredBytes } from "../../storage/stored-bytes.ts";
import type { RunDataSource } from "../../wire/openai/evals/data-source.ts";
import type { ShownRun } from "../../wire/openai/evals/eval-runs.ts";
import { type Accounts, type ProjectAuthor, recordProjectAudit } from "../accounts/index.ts";
import type { SealedRows } from "../responses/index.ts";
import { isFull, KeyEnded, notFound, RunRefused, requireContent } from "./eval-faults.ts";
import { startEvalJobs } from "./eval-jobs.ts";
import {
  type ClaimedRun,
  cancelRun,
  countItems,
  deleteRun,
  findItem,
  findNamedRun,
  findRun,
  insertRun,
  listItems,
  listRuns,
  listSummaries,
  type NamedRun,
  type RunFilter,
  type RunReference,
  storeTotals,
  updateLeasedRun,
} from "./eval-queries.ts";
import type { EvalItemRow, EvalRunRow } from "./eval-rows.ts";
import { type EvalRunOptions, type ItemContent, runEval } from "./eval-run.ts";
import { type Evals, requireEval } from "./evals.ts";
import { type MetadataInput, toText } from "./metadata-text.ts";
import { openRows, type RowStores } from "./open-rows.ts";
import { RefusedRuns } from "./refused-runs.ts";
import { toRunRows } from "./run-rows.ts";
import { checkSource, withDefaults } from "./run-source.ts";
import { type RunTotals, totalsOf } from "./run-totals.ts";
import { showRun } from "./show-run.ts";

/** A run that ends the service, such as by its memory, would end each later process too. */
const MAX_STARTS = 3;

export interface EvalRunsOptions extends RowStores {
  logger: Logger;
  evals: Evals;
  /** Undefined: there is no key to encrypt content with. */
  content: SealedRows | undefined;
  storedBytes: Pick<StoredBytes, "add" | "checkRoom">;
  accounts: Pick<Accounts, "callerOfKey">;
  requests: Pick<InternalRequests, "run">;
}

export type OutputItem = Omit<EvalItemRow, "content" | "summary"> & ItemContent & { evalId: string };

interface NewRun {
  name: string | undefined;
  source: RunDataSource;
}

export interface NewRuns {
  metadata: MetadataInput;
  /** Undefined: one run alone. */
  comparisonId: string | undefined;
  runs: readonly NewRun[];
}

export class EvalRuns {
  readonly #options: EvalRunsOptions;
  readonly #refusedRuns = new RefusedRuns();
  #jobs: JobRunner<ClaimedRun> | undefined;

  constructor(options: EvalRunsOptions) {
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

  /** Starts runs. Throws a Fault when the eval or the file does not exist, and when the project has no room. */
  async create(
    author: ProjectAuthor,
    { projectId, id: evalId }: ProjectResource,
    { metadata, comparisonId, runs }: NewRuns,
  ): Promise<ShownRun[]> {
    const content = requireContent(this.#options.content);
    const { database, evals, files, storedBytes } = this.#options;
    await storedBytes.checkRoom(projectId);
    const { definition } = await evals.find({ projectId, id: evalId });
    const now = Date.now();
    const sources = runs.map(({ source }) => withDefaults(source, definition, now));
    for (const [index, source] of sources.entries()) {
      checkSource(source, comparisonId === undefined ? "data_source" : `variants[${index}]`);
    }
    const source = sources[0]?.source;
    if (source?.type === "file_id") await files.find({ projectId, id: source.id });
    const rows = await toRunRows(
      content,
      {
        ...{ evalId, projectId, keyId: author.keyId ?? "", createdAt: now },
        ...{ metadata: toText(metadata), comparisonId: comparisonId ?? null },
      },
      sources.map((source, index) => ({ name: runs[index]?.name, source })),
    );
    await database.transaction(async (executor) => {
      for (const row of rows) {
        await insertRun(executor, row);
        const details = { eval_id: evalId, name: row.name, model: row.model };
        await recordProjectAudit(executor, author, {
          type: "eval.run.created",
          projectId,
          resourceId: row.id,
          details,
        });
      }
    });
    for (const row of rows) storedBytes.add(projectId, row.source.length);
    this.#jobs?.wake();
    return this.#showAll(rows);
  }

  async list(resource: ProjectResource, page: PageRequest & RunFilter): Promise<Page<ShownRun>> {
    const { entries, hasMore } = await this.#options.database.run(async (executor) => {
      await requireEval(executor, resource);
      return listRuns(executor, resource.id, page);
    });
    return { entries: await this.#showAll(entries), hasMore };
  }

  async find(reference: RunReference): Promise<ShownRun> {
    const row = await this.#options.database.run((executor) => findRun(executor, reference));
    if (row === undefined) throw notFound("run", reference.id);
    return this.#show(row);
  }

  async cancel(author: ProjectAuthor, reference: RunReference): Promise<ShownRun> {
    await this.#change(author, reference, "eval.run.canceled", async (executor, { id }) =>
      cancelRun(executor, id, Date.now()),
    );
    return this.find(reference);
  }

  async delete(author: ProjectAuthor, reference: RunReference): Promise<void> {
    await this.#change(author, reference, "eval.run.deleted", (executor, { id }) => deleteRun(executor, id));
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
    return { ...row, evalId, ...requireContent(this.#options.content).open<ItemContent>(place, content) };
  }

  async #show(row: EvalRunRow): Promise<ShownRun> {
    const [run] = await this.#showAll([row]);
    return run as ShownRun;
  }

  /** `rows`: runs of one eval. */
  async #showAll(rows: readonly EvalRunRow[]): Promise<ShownRun[]> {
    const [first] = rows;
    if (first === undefined) return [];
    const { database, evals } = this.#options;
    const { definition } = await evals.find({ projectId: first.projectId, id: first.evalId });
    const ids = rows.map(({ id }) => id);
    const counts = await database.run((executor) => countItems(executor, ids));
    const shown: ShownRun[] = [];
    for (const row of rows) {
      await nextTurn();
      const { projectId, id } = row;
      const source = requireContent(this.#options.content).open<RunDataSource>(
        { table: "eval run", projectId, id },
        row.source,
      );
      const totals = await this.#totalsOf(row, counts.get(id) ?? 0, definition.testingCriteria.length);
      shown.push(showRun(row, source, definition, totals));
    }
    return shown;
  }

  /** Reads the totals of a run that has ended, and sums the items of another. The erasure of a person removes items. */
  async #totalsOf({ id, totals, endedAt }: EvalRunRow, itemCount: number, criteria: number): Promise<RunTotals> {
    const stored = totals === null ? undefined : (JSON.parse(totals) as RunTotals);
    if (stored?.items === itemCount) return stored;
    const { database } = this.#options;
    const sums = totalsOf(await database.run((executor) => listSummaries(executor, id)), criteria);
    if (endedAt !== null) await database.run((executor) => storeTotals(executor, id, JSON.stringify(sums)));
    return sums;
  }

  async #change(
    author: ProjectAuthor,
    reference: RunReference,
    type: "eval.run.canceled" | "eval.run.deleted",
    work: (executor: Executor, row: NamedRun) => Promise<void>,
  ): Promise<void> {
    await this.#options.database.transaction(async (executor) => {
      const row = await requireRun(executor, reference);
      await work(executor, row);
      const { projectId, id: resourceId, evalId, name } = row;
      const event = { type, projectId, resourceId, details: { eval_id: evalId, name } };
      await recordProjectAudit(executor, author, event);
    });
  }

  async #run(run: ClaimedRun, signal: AbortSignal, content: SealedRows): Promise<JobEnd> {
    const { database, evals, accounts, requests, storedBytes } = this.#options;
    const { projectId, id } = run;
    const fail = async (code: string, message: string): Promise<JobEnd> => {
      const change = { status: "failed", error: JSON.stringify({ code, message }), endedAt: Date.now() } as const;
      await database.run((executor) => updateLeasedRun(executor, run, change));
      return "over";
    };
    if (run.starts > MAX_STARTS) {
      return fail("service_ended", `The service ended ${MAX_STARTS} times while it ran this. See the service log.`);
    }
    const failWith = (failure: Fault) => fail(failure.code ?? "invalid_source", failure.message);
    const callerOf = () => accounts.callerOfKey(run.keyId, "batch");
    const caller = await callerOf();
    if (caller === undefined) return failWith(new KeyEnded());
    const { definition } = await evals.find({ projectId, id: run.evalId });
    const source = content.open<RunDataSource>({ table: "eval run", projectId, id }, run.source);
    let rows: EvalRunOptions["rows"];
    try {
      rows = await openRows(this.#options, run, source.source, {
        content,
        signal,
        organizationId: caller.organizationId,
      });
    } catch (failure) {
      if (!(failure instanceof Fault) || failure.kind === "unavailable") throw failure;
      return failWith(failure);
    }
    const end = await runEval({
      ...{ database, run, source, rows, definition, storedBytes, refusedRuns: this.#refusedRuns },
      seal: (place, value) => content.seal({ table: "eval item", ...place }, value),
      calls: { requests, callerOf, signal },
    }).catch((failure: unknown) => {
      if (failure instanceof KeyEnded || failure instanceof RunRefused || isFull(failure)) return failWith(failure);
      throw failure;
    });
    if (end === "over") this.#refusedRuns.forget(id);
    return end;
  }
}

async function requireRun(executor: Executor, reference: RunReference): Promise<NamedRun> {
  const run = await findNamedRun(executor, reference);
  if (run === undefined) throw notFound("run", reference.id);
  return run;
}
