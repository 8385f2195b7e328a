/** Sums the items of a run. */

import type { RunDataSource } from "../../wire/openai/evals/data-source.ts";
import type { ModelUsage, ShownRun } from "../../wire/openai/evals/eval-runs.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";
import type { ItemSummaryRow } from "./eval-queries.ts";
import type { EvalItemRow, EvalRunRow } from "./eval-rows.ts";
import type { ItemSummary } from "./eval-run.ts";
import { fromText } from "./metadata-text.ts";

export function showRun(
  row: EvalRunRow,
  source: RunDataSource,
  { testingCriteria }: EvalDefinition,
  items: readonly ItemSummaryRow[],
): ShownRun {
  const countOf = (status: EvalItemRow["status"]) => items.filter((each) => each.status === status).length;
  const summaries = items.map(({ summary }) => JSON.parse(summary) as ItemSummary);
  return {
    ...row,
    counts: { total: row.total, passed: countOf("pass"), failed: countOf("fail"), errored: countOf("error") },
    usage: sumUsage(summaries),
    sampling: sumSamples(summaries),
    criteria: testingCriteria.map(({ name }, index) => {
      const results = summaries.flatMap(({ results: all }) => all[index] ?? []);
      const passed = results.filter((result) => result.passed).length;
      const meanScore = mean(results.map(({ score }) => score));
      return { name, passed, failed: results.length - passed, meanScore };
    }),
    source,
    error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
    metadata: fromText(row.metadata),
  };
}

function sumUsage(summaries: readonly ItemSummary[]): Map<string, ModelUsage> {
  const sums = new Map<string, ModelUsage>();
  for (const { model, ...usage } of summaries.flatMap((each) => each.usage)) {
    const none = { invocations: 0, promptTokens: 0, completionTokens: 0, cachedTokens: 0, costNanoDollars: 0 };
    const sum = sums.get(model) ?? none;
    sum.invocations += 1;
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
    sum.cachedTokens += usage.cachedTokens;
    sum.costNanoDollars = plus(sum.costNanoDollars, usage.costNanoDollars ?? null);
    sums.set(model, sum);
  }
  return sums;
}

/** A sum of which a part has no price has none. */
function sumSamples(summaries: readonly ItemSummary[]): ShownRun["sampling"] {
  const sampled = summaries.filter(({ durationMs }) => durationMs !== undefined);
  if (sampled.length === 0) return { costNanoDollars: null, meanDurationMs: null };
  return {
    costNanoDollars: sampled.reduce<number | null>((sum, each) => plus(sum, each.costNanoDollars ?? null), 0),
    meanDurationMs: mean(sampled.map(({ durationMs = 0 }) => durationMs)),
  };
}

function plus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
