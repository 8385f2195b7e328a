import type { ChatEvent, ChatModel, ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";

const NOTHING_USED: TokenUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  estimated: false,
};

/**
 * Continues the prompts one after the other, in one slot. Choices are numbered over all prompts, those of the first
 * prompt first; the answer ends with one `finish`.
 */
export async function* continuePrompts(
  model: ChatModel,
  request: ChatRequest,
  prompts: readonly RawPrompt[],
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  let total = NOTHING_USED;
  for (const [index, prompt] of prompts.entries()) {
    let hasFinished = false;
    for await (const event of model.chat({ ...request, prompt }, signal)) {
      if (event.type === "finish") {
        total = addTokens(total, event.usage);
        hasFinished = true;
      } else {
        yield placed(event, total, index * request.choices);
      }
    }
    // Aborted, or broken off, which the run reports.
    if (!hasFinished) return;
  }
  yield { type: "finish", usage: total };
}

type Unfinished = Exclude<ChatEvent, { type: "finish" }>;

/** Returns the event with its counts from the start of the answer. */
function placed(event: Unfinished, before: TokenUsage, firstChoice: number): Unfinished {
  if (event.type === "start") {
    return {
      ...event,
      promptTokens: before.promptTokens + event.promptTokens,
      cachedTokens: before.cachedTokens + event.cachedTokens,
    };
  }
  const choice = firstChoice + event.choice;
  if (!("completionTokens" in event)) return { ...event, choice };
  return { ...event, choice, completionTokens: before.completionTokens + event.completionTokens };
}
