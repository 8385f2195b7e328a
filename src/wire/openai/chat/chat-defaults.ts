import type { ChatDefaults } from "../../../contracts/chat-model.ts";
import type { ChatCompletionBody } from "./chat-body.ts";

type ChatFields = Partial<
  Pick<ChatCompletionBody, "max_tokens" | "max_completion_tokens" | "repeat_penalty" | "repetition_penalty">
> &
  Record<string, unknown>;

/** Adds a model's defaults to the fields that the body leaves out; returns the same body if none is missing. */
export function withChatDefaults<Body extends ChatFields>(body: Body, defaults: ChatDefaults): Body {
  const limit = body.max_tokens ?? body.max_completion_tokens;
  const repeatPenalty = body.repeat_penalty ?? body.repetition_penalty;
  const fields = {
    temperature: defaults.temperature,
    top_p: defaults.topP,
    top_k: defaults.topK,
    min_p: defaults.minP,
    frequency_penalty: defaults.frequencyPenalty,
    presence_penalty: defaults.presencePenalty,
    repeat_penalty: repeatPenalty === undefined ? defaults.repeatPenalty : undefined,
    max_completion_tokens: limit === undefined ? defaults.maxTokens : undefined,
    reasoning_effort: defaults.reasoningEffort,
  } satisfies Partial<ChatCompletionBody>;
  const missing = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && (body[name] ?? undefined) === undefined,
  );
  return missing.length === 0 ? body : { ...body, ...Object.fromEntries(missing) };
}
