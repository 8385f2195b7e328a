import type { EvalItemRow, EvalRow, EvalRunRow } from "../../../src/features/evals/eval-rows.ts";

/** An eval of the project `proj_a`. */
export function evalRow(): EvalRow {
  const definition = JSON.stringify({ dataSourceConfig: { type: "custom", schema: {} }, testingCriteria: [] });
  return { id: "eval_a", projectId: "proj_a", name: "a", definition, metadata: null, createdBy: null, createdAt: 0 };
}

/** A run of it that has not begun. */
export function evalRunRow(): EvalRunRow {
  return {
    ...{ id: "evalrun_a", evalId: "eval_a", projectId: "proj_a", keyId: "key_a", name: "a", model: "" },
    ...{ status: "queued", source: Buffer.alloc(0), metadata: null, error: null, total: 0, comparisonId: null },
    ...{ rowIds: null, totals: null, starts: 0, createdAt: 0, endedAt: null, leaseId: null, dueAt: 0 },
  };
}

/** An item of it. */
export function evalItemRow(): EvalItemRow {
  return {
    ...{ runId: "evalrun_a", position: 0, id: "outputitem_a", status: "pass", content: Buffer.alloc(0), createdAt: 0 },
    summary: JSON.stringify({ results: [], usage: [] }),
    ...{ organizationId: null, authorKeyId: null, endUser: null },
  };
}
