/** Stores the end of a batch, with its files and its event. */

import type { Database } from "../../storage/database.ts";
import type { FileStore } from "../files/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { type BatchParts, partsFolder } from "./batch-parts.ts";
import { type BatchEnd, endBatch } from "./batch-queries.ts";
import type { BatchRow } from "./batch-rows.ts";
import { writeResults } from "./write-results.ts";

interface EndOptions {
  database: Database;
  files: FileStore;
  outbox: Pick<WebhookOutbox, "add">;
  /** Folder for temporary files of the run. */
  directory: string;
}

export interface EndingRun {
  batch: BatchRow;
  runId: string;
  parts: BatchParts;
}

/** Ends the batch with files of what was answered, and of `left` lines that were not. */
export async function endWithResults(
  options: EndOptions,
  run: EndingRun,
  end: BatchEnd,
  { unanswered, left }: { unanswered: AsyncIterable<string>; left: number } = { unanswered: nothing(), left: 0 },
): Promise<void> {
  const { files, directory } = options;
  const written = await writeResults({ files, batch: run.batch, parts: run.parts, unanswered, directory });
  const shown = { outputFileId: written.output?.id ?? null, errorFileId: written.errors?.id ?? null };
  const isEnded = await storeEnd(options, run, { ...end, ...shown }, left);
  if (!isEnded) for (const file of Object.values(written)) await files.remove(file);
  // Parts that cannot be deleted now are deleted with the batch.
  else await files.blobs.delete(partsFolder(run.batch.id)).catch(() => {});
}

/** Resolves with false when another run has the batch. */
export function storeEnd(
  { database, outbox }: Pick<EndOptions, "database" | "outbox">,
  { batch: { id, projectId }, runId }: Omit<EndingRun, "parts">,
  end: BatchEnd,
  unanswered?: number,
): Promise<boolean> {
  return database.transaction(async (executor) => {
    const isEnded = await endBatch(executor, { id, projectId, runId }, end, unanswered);
    const event = { type: `batch.${end.status}`, data: { id, project_id: projectId } } as const;
    if (isEnded) await outbox.add(executor, event, Date.now());
    return isEnded;
  });
}

async function* nothing(): AsyncGenerator<string> {}
