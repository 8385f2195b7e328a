import type { ClaimedBatch } from "../../../src/features/batches/batch-queries.ts";
import type { BatchRow } from "../../../src/features/batches/batch-rows.ts";
import type { Executor } from "../../../src/storage/database.ts";

/** A batch of the project `proj_a` that has not begun. */
export function batchRow(inputFileId: string): BatchRow {
  return {
    id: "batch_a",
    projectId: "proj_a",
    keyId: "key_a",
    endpoint: "/v1/chat/completions",
    inputFileId,
    completionWindow: "24h",
    outputExpiresAfterSeconds: null,
    ownsInput: 0,
    metadata: null,
    status: "validating",
    errors: null,
    total: 0,
    completed: 0,
    failed: 0,
    unanswered: 0,
    ...{ promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
    outputFileId: null,
    errorFileId: null,
    createdAt: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    inProgressAt: null,
    finalizingAt: null,
    cancellingAt: null,
    endedAt: null,
    runId: null,
    dueAt: 0,
  };
}

/** Gives a batch to a run, whoever has it. Returns undefined for a batch that has ended. */
export async function takeOverBatch(executor: Executor, id: string, runId: string): Promise<ClaimedBatch | undefined> {
  const update = executor.updateTable("batches").set({ runId }).where("id", "=", id).where("endedAt", "is", null);
  const row = await update.returningAll().executeTakeFirst();
  return row && { ...row, runId };
}
