import type { Settlement } from "../../inference/settlement.ts";
import { addTokens } from "../../kernel/usage.ts";

/**
 * Returns the settlement of a request that ran several times, with the costs of its tool calls in nano-dollars; undefined
 * while a run has not ended.
 */
export function combineSettlements(
  runs: readonly (() => Settlement | undefined)[],
  toolCosts: readonly (number | null)[] = [],
): Settlement | undefined {
  const settlements = runs.map((run) => run());
  const turns = settlements.reduce((one, other) => one && other && combine(one, other));
  const toolCost = toolCosts.reduce(addCosts, null);
  if (turns === undefined || toolCost === null) return turns;
  return { ...turns, costNanoDollars: addCosts(turns.costNanoDollars, toolCost), costParts: undefined };
}

function combine(one: Settlement, other: Settlement): Settlement {
  const { used } = other;
  return {
    ...other,
    used: { ...used, ...addTokens(one.used, used) },
    costNanoDollars: addCosts(one.costNanoDollars, other.costNanoDollars),
    comparedCostNanoDollars: addCosts(one.comparedCostNanoDollars, other.comparedCostNanoDollars),
    costParts: undefined,
    attempts: one.attempts + other.attempts,
    queuedSeconds: one.queuedSeconds + other.queuedSeconds,
    stages: [...one.stages, ...other.stages],
    startedAt: one.startedAt,
    durationSeconds: one.durationSeconds + other.durationSeconds,
    firstTokenSeconds: one.firstTokenSeconds,
  };
}

function addCosts(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}
