/** Sums of the items of a run. */

import type { ModelUsage, ShownRun } from "../../wire/openai/evals/eval-runs.ts";
import type { ItemSummaryRow } from "./eval-queries.ts";
import type { EvalItemRow } from "./eval-rows.ts";
import type { ItemSummary } from "./eval-run.ts";

export interface RunTotals {
  /** Items that are summed. */
  items: number;
  counts: Record<EvalItemRow["status"], number>;
  usage: readonly (readonly [model: string, usage: ModelUsage])[];
  sampling: ShownRun["sampling"];
  /** By the position of the criterion. */
  criteria: readonly { passed: number; failed: number; meanScore: number | null }[];
}

/** `criteria`: their number. */
export function totalsOf(items: readonly ItemSummaryRow[], criteria: number): RunTotals {
  const countOf = (status: EvalItemRow["status"]) => items.filter((each) => each.status === status).length;
  const summaries = items.map(({ summary }) => JSON.parse(summary) as ItemSummary);
  return {
    items: items.length,
    counts: { pass: countOf("pass"), fail: countOf("fail"), error: countOf("error") },
    usage: [...sumUsage(summaries)],
    sampling: sumSamples(summaries),
    criteria: Array.from({ length: criteria }, (_, index) => {
      const results = summaries.flatMap(({ results: all }) => all[index] ?? []);
      const passed = results.filter((result) => result.passed).length;
      return { passed, failed: results.length - passed, meanScore: mean(results.map(({ score }) => score)) };
    }),
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
