import type { Settlement } from "../../inference/settlement.ts";
import { inOrder, type Stage } from "../../inference/stages.ts";
import { addTokens } from "../../kernel/usage.ts";

/** A call of a tool with its cost in nano-dollars; null: it has no price. */
export interface ToolCall {
  costNanoDollars: number | null;
  stage: Stage;
}

/**
 * Returns the settlement of a request that ran several times, with its tool calls; undefined while a run has not ended.
 * `beganAt`: when each run began, from `performance.now()`.
 */
export function combineSettlements(
  runs: readonly (() => Settlement | undefined)[],
  { calls = [], beganAt = [] }: { calls?: readonly ToolCall[]; beganAt?: readonly number[] } = {},
): Settlement | undefined {
  const settlements = runs.map((run) => run());
  const sum = settlements.reduce((one, other) => one && other && combine(one, other));
  if (sum === undefined || calls.length === 0) return sum;
  const turns = settlements.flatMap((each, index) => (each === undefined ? [] : toTurn(each, beganAt[index] ?? 0)));
  const stages = inOrder([...sum.stages, ...turns, ...calls.map(({ stage }) => stage)]);
  const toolCost = calls.reduce<number | null>((cost, call) => addCosts(cost, call.costNanoDollars), null);
  if (toolCost === null) return { ...sum, stages };
  return { ...sum, stages, costNanoDollars: addCosts(sum.costNanoDollars, toolCost), costParts: undefined };
}

function toTurn({ deploymentEntry, durationSeconds }: Settlement, beganAt: number): Stage {
  return { kind: "turn", deployment: deploymentEntry ?? "", beganAt, durationMs: 1000 * durationSeconds };
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
