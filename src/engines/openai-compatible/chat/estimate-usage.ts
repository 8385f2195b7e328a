import type { ChatRequest } from "../../../contracts/chat-model.ts";
import { estimatePromptTokens } from "../../../contracts/estimate-tokens.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";

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
