/** Reasoning of Claude models, as Anthropic's API and Bedrock take it. */

import type { ChatRequest } from "../../contracts/chat-model.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";

export type ThinkingMode = "adaptive" | "budget";

interface ClaudeOptions {
  /** Name of the provider, for messages. */
  provider: string;
  model: string;
  /** Limit of the answer's tokens, of which the reasoning is a part. */
  maxTokens: number;
  /** Default: by the model's name. */
  mode: ThinkingMode | undefined;
}

/** Models that think within a budget of tokens; later ones take an effort. */
const BUDGET_MODELS = /claude-(?:3|instant|2|v2|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|$|@|-v\d|:))/;
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 16_384 };
const MAX_BUDGET = 31_999;
const MIN_BUDGET = 1024;
const EFFORTS: ReadonlySet<string> = new Set(["low", "medium", "high", "xhigh", "max"]);

/** Converts the effort, or the thinking that a Messages request asks for. Throws a Fault for what models do not have. */
export function toClaudeThinking(
  { thinking, reasoningEffort }: ChatRequest,
  { provider, model, maxTokens, mode: configured }: ClaudeOptions,
): { thinking?: Record<string, unknown>; effort?: string } {
  const requested = reasoningEffort ?? thinking?.effort;
  const mode = configured ?? (BUDGET_MODELS.test(model) ? "budget" : "adaptive");
  if (reasoningEffort === "none") return mode === "adaptive" ? { thinking: { type: "disabled" } } : {};
  if (requested === undefined && thinking?.isEnabled !== true) return {};
  if (mode === "budget") {
    const budget = thinking?.budgetTokens ?? BUDGETS[requested ?? "medium"] ?? MAX_BUDGET;
    return { thinking: { type: "enabled", budget_tokens: boundedBudget(budget, maxTokens, provider) } };
  }
  const effort = requested === "minimal" ? "low" : requested;
  if (effort !== undefined && !EFFORTS.has(effort)) {
    const efforts = "none, minimal, low, medium, high, xhigh or max";
    const message = `${provider}'s API has no effort '${effort.slice(0, 50)}': send ${efforts}.`;
    throw unsupportedValue(message, "reasoning_effort");
  }
  return { thinking: { type: "adaptive", display: "summarized" }, ...(effort !== undefined && { effort }) };
}

function boundedBudget(budget: number, maxTokens: number, provider: string): number {
  if (maxTokens <= MIN_BUDGET) {
    const message = `${provider}'s API thinks for at least ${MIN_BUDGET} tokens, which count as completion tokens: allow more than ${MIN_BUDGET} of them, not ${maxTokens}.`;
    throw invalidRequest(message, "max_completion_tokens", "invalid_value");
  }
  return Math.max(MIN_BUDGET, Math.min(budget, maxTokens - 1));
}
