/** The rows of a run: from the request, a file, or what the service has stored. */

import type { Database } from "../../storage/database.ts";
import { type EvalRowInput, isStored, type RunSource } from "../../wire/openai/evals/data-source.ts";
import type { FileStore } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import type { SealedRows } from "../responses/index.ts";
import { type ClaimedRun, updateLeasedRun } from "./eval-queries.ts";
import type { EvalRunOptions } from "./eval-run.ts";
import { type FileRows, openFileRows } from "./open-file-rows.ts";
import { StoredRows } from "./stored-rows.ts";

export interface RowStores {
  database: Database;
  files: Pick<FileStore, "find" | "readStored">;
  /** Undefined: no chat completions are stored. */
  recorded: Pick<RecordedContents, "find" | "readCompletions"> | undefined;
}

/** Selects the rows of a run, the same ones when the run goes on. Throws a Fault for a file with an invalid line, and without rows. */
export async function openRows(
  { database, files, recorded }: RowStores,
  run: ClaimedRun,
  source: RunSource,
  { content, signal, organizationId }: { content: SealedRows; signal: AbortSignal; organizationId: string },
): Promise<EvalRunOptions["rows"]> {
  const { projectId } = run;
  if (!isStored(source)) {
    const { count, read } =
      source.type === "file_id"
        ? await openFileRows(files, { projectId, id: source.id }, signal)
        : rowsOf(source.content);
    const nobody = { organizationId: null, authorKeyId: null, endUser: null };
    return {
      count,
      read: async (at) => {
        const row = await read(at);
        return row && { ...row, ...nobody };
      },
    };
  }
  const stored = new StoredRows({ database, content, recorded });
  const place = { organizationId, projectId };
  let ids = run.rowIds === null ? undefined : (JSON.parse(run.rowIds) as string[]);
  if (ids === undefined) {
    ids = await stored.select(place, source, signal);
    // A process that goes on with the run reads the same rows at the same positions.
    const rowIds = JSON.stringify(ids);
    await database.run((executor) => updateLeasedRun(executor, run, { rowIds }));
  }
  const selected = ids;
  return { count: selected.length, read: (at) => stored.read(place, source.type, selected[at] ?? "") };
}

/** Rows of the request, whose size and number of values it bounds. */
function rowsOf(content: readonly EvalRowInput[]): FileRows {
  return { count: content.length, read: async (at) => content[at] };
}
