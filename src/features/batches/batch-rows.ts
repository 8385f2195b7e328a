/** Rows of batches. */

import type { PersonalData } from "../../storage/personal-data.ts";
import type { ShownBatch } from "../../wire/openai/batches.ts";

type BatchStatus =
  | "validating"
  | "in_progress"
  | "finalizing"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";

export interface BatchRow extends ShownBatch {
  projectId: string;
  /** Key that created the batch, with whose permissions its lines run. */
  keyId: string;
  outputExpiresAfterSeconds: number | null;
  /** 1: the input was written for this batch and is deleted with it. */
  ownsInput: 0 | 1;
  status: BatchStatus;
  /** Changes when another run takes the batch over; an earlier run can no longer write. Null: none has it. */
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

export const batchPartData = {
  batchParts: { reason: "Erased with their batch." },
} as const satisfies PersonalData;
