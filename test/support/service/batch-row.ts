import type { BatchRow } from "../../../src/storage/schema.ts";

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
    metadata: null,
    status: "validating",
    errors: null,
    total: 0,
    completed: 0,
    failed: 0,
    outputFileId: null,
    errorFileId: null,
    createdAt: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    inProgressAt: null,
    finalizingAt: null,
    cancellingAt: null,
    endedAt: null,
    runId: null,
  };
}
