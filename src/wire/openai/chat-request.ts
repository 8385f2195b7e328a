/** A checked body of POST /v1/chat/completions as the engines' own request. */

import type { ChatMessage, ChatRequest } from "../../engines/chat-model.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../faults.ts";
import type { ChatCompletionBody, Message } from "./chat-body.ts";

/** Leaves `moderation` out, which is the service's own to honour. */
export function toChatRequest(body: ChatCompletionBody): ChatRequest {
  const { moderation: _own, ...wire } = body;
  const limits = [body.max_tokens, body.max_completion_tokens].filter((limit) => limit !== undefined);
  return {
    model: body.model,
    messages: body.messages.map(toMessage),
    maxTokens: limits.length === 0 ? undefined : Math.min(...limits),
    temperature: body.temperature ?? 1,
    topP: body.top_p ?? 1,
    topK: undefined,
    minP: undefined,
    seed: body.seed,
    frequencyPenalty: 0,
    presencePenalty: 0,
    repeatPenalty: 1,
    logitBias: {},
    stop: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
    stream: body.stream === true,
    promptCacheKey: typeof body.prompt_cache_key === "string" ? body.prompt_cache_key : undefined,
    wire,
    choices: 1,
    format: { type: "text" },
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    topLogprobs: undefined,
    reasoningEffort: undefined,
    notCarried: firstNotCarried(body),
    imagesNotTaken: undefined,
  };
}

const CARRIED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "moderation",
]);

/** Bookkeeping and hints: accepted everywhere, since an answer without them is still the answer that was asked for. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  "user",
  "metadata",
  "store",
  "service_tier",
  "reasoning_effort",
  "verbosity",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
]);

/** Known fields that local models do not honour yet, each with the test for a value that asks for nothing. */
const NOT_BUILT: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => Object.keys(value as object).length === 0,
  logprobs: (value) => value === false,
  top_logprobs: never,
  response_format: (value) => (value as { type: string }).type === "text",
  tools: (value) => (value as unknown[]).length === 0,
  tool_choice: (value) => value === "none",
  parallel_tool_calls: (value) => value === true,
  functions: never,
  function_call: (value) => value === "none",
  modalities: (value) => JSON.stringify(value) === '["text"]',
  audio: never,
  prediction: never,
  web_search_options: never,
};

function never(): boolean {
  return false;
}

function firstNotCarried(body: ChatCompletionBody): Fault | undefined {
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined || value === null || CARRIED.has(field) || WITHOUT_EFFECT.has(field)) continue;
    const asksForNothing = Object.hasOwn(NOT_BUILT, field) ? NOT_BUILT[field] : undefined;
    if (asksForNothing === undefined) return invalidRequest(`Unknown parameter: '${field}'.`, field);
    if (!asksForNothing(value)) return unsupportedValue(`This model does not support '${field}'.`, field);
  }
  for (const [index, message] of body.messages.entries()) {
    const fault = notCarriedByMessage(message, `messages[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function notCarriedByMessage(message: Message, path: string): Fault | undefined {
  if (message.role === "tool" || message.role === "function") {
    return unsupportedValue(`This model does not support messages with the role '${message.role}'.`, `${path}.role`);
  }
  if (Array.isArray(message.content)) {
    const index = message.content.findIndex((part) => part.type !== "text");
    const part = message.content[index];
    if (part !== undefined) {
      const param = `${path}.content[${index}].type`;
      return unsupportedValue(`This model takes text only, not parts of the type '${part.type}'.`, param);
    }
  }
  for (const [field, value] of Object.entries(message)) {
    // An answer's own message comes back with the next question: its empty fields say nothing.
    const saysNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (field === "role" || field === "content" || saysNothing) continue;
    return unsupportedValue(`This model does not support '${field}' in a message.`, `${path}.${field}`);
  }
  return undefined;
}

/** Only models that pass the wire body on get to see roles and parts that this leaves out: `notCarried` stops the others. */
function toMessage(message: Message): ChatMessage {
  const role = message.role === "tool" || message.role === "function" ? "user" : message.role;
  return { role, content: toText(message.content) };
}

function toText(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}
