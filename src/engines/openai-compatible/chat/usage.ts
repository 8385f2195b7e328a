import type { ChatRequest } from "../../../contracts/chat-model.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { estimatePromptTokens } from "../../shared/estimate-tokens.ts";

/** Parses a `usage` object of OpenAI's format; undefined when it is invalid. */
export function parseUsage(value: unknown): TokenUsage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const usage = value as Record<string, unknown>;
  const promptTokens = usage.prompt_tokens;
  const completionTokens = usage.completion_tokens;
  if (!isCount(promptTokens) || !isCount(completionTokens)) return undefined;
  const details = usage.prompt_tokens_details as { cached_tokens?: unknown } | null | undefined;
  const cachedTokens = isCount(details?.cached_tokens) ? Math.min(details.cached_tokens, promptTokens) : 0;
  const answer = usage.completion_tokens_details as { reasoning_tokens?: unknown } | null | undefined;
  const reasoningTokens = isCount(answer?.reasoning_tokens) ? answer.reasoning_tokens : 0;
  return { promptTokens, completionTokens, cachedTokens, reasoningTokens, estimated: false };
}

/** No request has more tokens, and a usage record holds no more. */
const MAX_TOKENS = 2 ** 31 - 1;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
}

/** Role and marks around each message in a common chat template. */
const TOKENS_PER_MESSAGE = 4;

/** For upstreams that report no usage. `bodyBytes`: of a forwarded body's prompt, which may hold more than the request. */
export function estimateUsage(
  request: Pick<ChatRequest, "messages" | "tools" | "format">,
  completionTokens: number,
  bodyBytes = 0,
): TokenUsage {
  const promptTokens = TOKENS_PER_MESSAGE * request.messages.length + estimatePromptTokens(request, bodyBytes);
  return { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0, estimated: true };
}
