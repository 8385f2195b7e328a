/**
 * Usage, cost, user and session of a request in a span: OpenTelemetry's conventions for generative AI, those of
 * OpenInference, which Phoenix reads, and what Langfuse reads of both (`gen_ai.usage.cost`, `user.id`, `session.id`).
 */

import { inDollars } from "../kernel/nano-dollars.ts";
import type { RequestLabels, Usage } from "../kernel/usage.ts";
import type { SpanAttributes } from "./trace.ts";

interface SpanUsage {
  used: Usage;
  costNanoDollars: number | null;
  /** Catalog ID that answered. */
  model: string | undefined;
  labels: RequestLabels | undefined;
}

export function usageAttributes({ used, costNanoDollars, model, labels }: SpanUsage): SpanAttributes {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, details } = used;
  const cost = inDollars(costNanoDollars) ?? undefined;
  const reported = details?.reportedCostNanoDollars;
  const tags = labels?.tags === undefined ? undefined : [...labels.tags];
  const cacheWrites = details?.cacheWriteTokens || undefined;
  return {
    "gen_ai.response.model": model,
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.output_tokens": completionTokens,
    "gen_ai.usage.cache_read.input_tokens": cachedTokens || undefined,
    "gen_ai.usage.cache_creation.input_tokens": cacheWrites,
    "gen_ai.usage.cost": cost,
    "gen_ai.conversation.id": labels?.session,
    "openinference.span.kind": "LLM",
    "llm.model_name": model,
    "llm.token_count.prompt": promptTokens,
    "llm.token_count.completion": completionTokens,
    "llm.token_count.total": promptTokens + completionTokens,
    "llm.token_count.prompt_details.cache_read": cachedTokens || undefined,
    "llm.token_count.prompt_details.cache_write": cacheWrites,
    "llm.token_count.completion_details.reasoning": reasoningTokens || undefined,
    "llm.cost.total": cost,
    "parlance.reported_cost": inDollars(reported),
    "user.id": labels?.endUser,
    "session.id": labels?.session,
    "tag.tags": tags,
    "langfuse.trace.tags": tags,
  };
}
