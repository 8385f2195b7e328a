import type { Settlement } from "../../inference/settlement.ts";
import { inOrder, type Stage } from "../../inference/stages.ts";
import { addTokens } from "../../kernel/usage.ts";

/** A call of a tool with its cost in nano-dollars; null: it has no price. */
export interface ToolCall {
  costNanoDollars: number | null;
  stage: Stage;
}

interface CombineOptions {
  calls?: readonly ToolCall[];
  /** When each run began, from `performance.now()`. */
  beganAt?: readonly number[];
  /** The run with the first text; undefined: the last one. */
  textRun?: number | undefined;
}

/**
 * Returns the settlement of a request that ran several times, with its tool calls; undefined while a run has not ended.
 * Its first token is that of the text: the calls before it are not the answer.
 */
export function combineSettlements(
  runs: readonly (() => Settlement | undefined)[],
  { calls = [], beganAt = [], textRun = runs.length - 1 }: CombineOptions = {},
): Settlement | undefined {
  const settlements = runs.map((run) => run());
  const sum = settlements.reduce((one, other) => one && other && combine(one, other));
  if (sum === undefined || calls.length === 0) return sum;
  const turns = settlements.flatMap((each, index) => (each === undefined ? [] : toTurn(each, beganAt[index] ?? 0)));
  const stages = inOrder([...sum.stages, ...turns, ...calls.map(({ stage }) => stage)]);
  const toolCost = calls.reduce<number | null>((cost, call) => addCosts(cost, call.costNanoDollars), null);
  const waitedSeconds = ((beganAt[textRun] ?? 0) - (beganAt[0] ?? 0)) / 1000;
  const ownSeconds = settlements[textRun]?.firstTokenSeconds;
  const firstTokenSeconds = ownSeconds === undefined ? undefined : waitedSeconds + ownSeconds;
  if (toolCost === null) return { ...sum, stages, firstTokenSeconds };
  const costNanoDollars = addCosts(sum.costNanoDollars, toolCost);
  return { ...sum, stages, firstTokenSeconds, costNanoDollars, costParts: undefined };
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
