/** Rows of evals, their runs and the items of runs. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

export interface EvalRow {
  id: string;
  projectId: string;
  name: string;
  /** `EvalDefinition` as JSON. */
  definition: string;
  /** JSON object. */
  metadata: string | null;
  /** Key that created it. */
  createdBy: string | null;
  createdAt: number;
}

type EvalRunStatus = "queued" | "in_progress" | "completed" | "canceled" | "failed";

export interface EvalRunRow {
  id: string;
  evalId: string;
  projectId: string;
  /** Key that created the run, with whose permissions its requests run. */
  keyId: string;
  name: string;
  /** Model that is sampled; empty for rows that have samples. */
  model: string;
  status: EvalRunStatus;
  /** Encrypted JSON of the data source. */
  source: Buffer;
  /** JSON object. */
  metadata: string | null;
  /** JSON of why it failed. */
  error: string | null;
  /** Rows of the source; 0 until they are counted. */
  total: number;
  /** Runs that were started together with the same rows. */
  comparisonId: string | null;
  /** JSON list of the stored completions or responses that are its rows; null until they are selected. */
  rowIds: string | null;
  /** `RunTotals` as JSON, once the run has ended and somebody has read it. */
  totals: string | null;
  /** Starts that neither ended nor were given back, with the present one. */
  starts: number;
  createdAt: number;
  endedAt: number | null;
  /** Changes when another process takes the run over; an earlier one can no longer write. */
  leaseId: string | null;
  /** End of the lease, or time from which it may run, by the database's clock. */
  dueAt: number;
}

export interface EvalItemRow {
  runId: string;
  position: number;
  id: string;
  status: "pass" | "fail" | "error";
  /** `ItemSummary` as JSON, without any content. */
  summary: string;
  /** Encrypted JSON: row, sample and results. */
  content: Buffer;
  /** Organization of the end user; null: the row is no stored answer. */
  organizationId: string | null;
  /** Key whose stored completion or response the row is. */
  authorKeyId: string | null;
  /** End user whom that request named. */
  endUser: string | null;
  createdAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    evals: EvalRow;
    evalRuns: EvalRunRow;
    evalItems: EvalItemRow;
  }
}

export const evalData = {
  evals: {
    rows: [{ by: { createdBy: "caller" }, hidden: ["definition"], erase: { createdBy: null } }],
    texts: { columns: { name: "prose", definition: "definition", metadata: "json" }, within: "projectId" },
  },
  evalRuns: {
    rows: [{ by: { keyId: "caller" }, hidden: ["source", "leaseId"], order: "id", erase: "delete" }],
    texts: { columns: { name: "prose", metadata: "json", error: "definition" }, within: "projectId" },
  },
  // Others are deleted with their run.
  evalItems: {
    rows: [{ by: { authorKeyId: "caller", endUser: "endUser" }, hidden: ["content"], order: "id", erase: "delete" }],
  },
} as const satisfies PersonalData;
