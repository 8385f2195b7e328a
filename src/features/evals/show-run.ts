import type { RunDataSource } from "../../wire/openai/evals/data-source.ts";
import type { ShownRun } from "../../wire/openai/evals/eval-runs.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";
import type { EvalRunRow } from "./eval-rows.ts";
import { fromText } from "./metadata-text.ts";
import type { RunTotals } from "./run-totals.ts";

export function showRun(
  row: EvalRunRow,
  source: RunDataSource,
  { testingCriteria }: EvalDefinition,
  { counts, usage, sampling, criteria }: RunTotals,
): ShownRun {
  return {
    ...row,
    counts: { total: row.total, passed: counts.pass, failed: counts.fail, errored: counts.error },
    usage: new Map(usage),
    sampling,
    criteria: testingCriteria.map(({ name }, index) => {
      return { name, ...(criteria[index] ?? { passed: 0, failed: 0, meanScore: null }) };
    }),
    source,
    error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
    metadata: fromText(row.metadata),
  };
}
