/** Rows of batches. */

type BatchStatus =
  | "validating"
  | "in_progress"
  | "finalizing"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";

export interface BatchRow {
  id: string;
  projectId: string;
  /** Key that created the batch, with whose permissions its lines run. */
  keyId: string;
  endpoint: string;
  inputFileId: string;
  completionWindow: string;
  outputExpiresAfterSeconds: number | null;
  /** JSON object. */
  metadata: string | null;
  status: BatchStatus;
  /** JSON array of why it failed. */
  errors: string | null;
  /** Lines of the input. */
  total: number;
  /** Lines answered with success, and those answered with an error. */
  completed: number;
  failed: number;
  /** Sums over the answered lines. */
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  outputFileId: string | null;
  errorFileId: string | null;
  createdAt: number;
  expiresAt: number;
  inProgressAt: number | null;
  finalizingAt: number | null;
  cancellingAt: number | null;
  endedAt: number | null;
  /** Changes when another run takes the batch over; an earlier run can no longer write. */
  runId: string | null;
  /** End of the lease of its run, or time from which it may run, by the database's clock. */
  dueAt: number;
}

/** Answers of some lines of a running batch. */
export interface BatchPartRow {
  batchId: string;
  position: number;
  /** Key in the blob store. */
  blob: string;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    batches: BatchRow;
    batchParts: BatchPartRow;
  }
}
