/** The texts of a chat that leave with it, and the call with others in their place. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type {
  ChatMessage,
  ContentPart,
  FilePart,
  ImagePart,
  ReasoningBlock,
  ToolCall,
} from "../../contracts/chat-message.ts";
import type { AnswerFormat, ChatRequest, RawPrompt, Tool, UpstreamFields } from "../../contracts/chat-model.ts";
import { answeredMessages } from "./answered-messages.ts";
import {
  type Channels,
  type ChannelText,
  each,
  fieldsOf,
  type Rewrite,
  replacing,
  rewriteFields,
  type TextKind,
} from "./channels.ts";

const RAW_PROMPT: Channels<RawPrompt> = { input: "prompt", suffix: "prompt", echo: "none" };

/** Values by which a provider recognizes its own text cannot change. */
const REASONING: Channels<ReasoningBlock> = { text: "prompt", signature: "none", encrypted: "none" };

const TOOL_CALL: Channels<ToolCall> = { id: "word", name: "word", arguments: "prompt", signature: "none" };

/** Addresses are refused, or pass by the operator's choice; see `unreadable`. */
const IMAGE: Channels<ImagePart> = { type: "none", cache: "none", url: "none", detail: "word", param: "none" };
const FILE: Channels<FilePart> = { type: "none", url: "none", name: "prompt", cache: "none", param: "none" };

const TOOL: Channels<Tool> = {
  name: "word",
  description: "instructions",
  parameters: "structure",
  isStrict: "none",
  param: "none",
  grammar: "none",
  cache: "none",
};

const SCHEMA: Channels<Extract<AnswerFormat, { type: "json-schema" }>> = {
  type: "none",
  schema: "structure",
  param: "none",
  grammar: "none",
};

const THINKING: Channels<NonNullable<ChatRequest["thinking"]>> = {
  isEnabled: "none",
  budgetTokens: "none",
  effort: "word",
};

const UPSTREAM_FIELDS: Channels<UpstreamFields> = {
  user: "word",
  safetyIdentifier: "word",
  promptCacheRetention: "word",
  promptCacheOptions: "structure",
  serviceTier: "word",
};

const REQUEST: Channels<ChatRequest> = {
  messages: each(rewriteMessage),
  prompt: fieldsOf(RAW_PROMPT),
  tools: each(fieldsOf(TOOL)),
  toolChoice: (choice, rewrite) =>
    typeof choice === "string" ? choice : { ...choice, name: rewrite(choice.name, "word") },
  format: (format, rewrite) => (format.type === "json-schema" ? rewriteFields(format, SCHEMA, rewrite) : format),
  stop: each("instructions"),
  thinking: fieldsOf(THINKING),
  verbosity: "word",
  templateVariables: "structure",
  promptCacheKey: "word",
  upstreamFields: fieldsOf(UPSTREAM_FIELDS),
  // Resolved by the service.
  model: "none",
  project: "none",
  storesNothing: "none",
  // The operator lists those that an upstream gets.
  callerHeaders: "none",
  cache: "none",
  continuation: "none",
  repeatsBeginning: "none",
  logitBias: "none",
  temperature: "none",
  topP: "none",
  topK: "none",
  minP: "none",
  seed: "none",
  frequencyPenalty: "none",
  presencePenalty: "none",
  repeatPenalty: "none",
  repeatLastN: "none",
  maxTokens: "none",
  minTokens: "none",
  choices: "none",
  parallelToolCalls: "none",
  topLogprobs: "none",
  // Last, because a model's defaults may add it.
  reasoningEffort: "word",
};

function messageChannels(role: ChatMessage["role"]): Channels<ChatMessage> {
  const kind = role === "system" || role === "developer" ? "instructions" : "prompt";
  return {
    role: "none",
    content: (content, rewrite) =>
      typeof content === "string" ? rewrite(content, kind) : content.map((part) => rewritePart(part, kind, rewrite)),
    // The length of a rewritten text differs.
    cacheMarks: (marks) => marks.slice(-1).map(({ ttl }) => ({ end: Number.MAX_SAFE_INTEGER, ttl })),
    reasoning: each(fieldsOf(REASONING)),
    toolCalls: each(fieldsOf(TOOL_CALL)),
    toolCallId: "word",
    name: "instructions",
    isSummary: "none",
  };
}

const MESSAGES: Readonly<Record<ChatMessage["role"], Channels<ChatMessage>>> = {
  system: messageChannels("system"),
  developer: messageChannels("developer"),
  user: messageChannels("user"),
  assistant: messageChannels("assistant"),
  tool: messageChannels("tool"),
};

function rewriteMessage(message: ChatMessage, rewrite: Rewrite): ChatMessage {
  return rewriteFields(message, MESSAGES[message.role], rewrite);
}

function rewritePart(part: ContentPart, kind: TextKind, rewrite: Rewrite): ContentPart {
  switch (part.type) {
    case "text":
      return rewriteFields(part, { type: "none", text: kind, cache: "none" }, rewrite);
    case "image":
      return rewriteFields(part, IMAGE, rewrite);
    case "file":
      return rewriteFields(part, FILE, rewrite);
  }
}

/** Returns texts of a call in the order in which `withChatTexts` takes them. */
export function chatTextsOf(call: ChatCall): ChannelText[] {
  const texts: ChannelText[] = [];
  const answered = answeredMessages(call.request.messages);
  let message: ChatMessage | undefined;
  const collect: Rewrite = (text, kind) => {
    const isAnswered = message !== undefined && answered.has(message);
    texts.push({ text, kind, ...(isAnswered && { isAnswered }) });
    return text;
  };
  const messages = each((one: ChatMessage, rewrite) => {
    message = one;
    rewriteMessage(one, rewrite);
    message = undefined;
    return one;
  });
  rewriteCall(call, collect, { ...REQUEST, messages });
  return texts;
}

/** Returns the call with `texts` in place of its own, also in the form that a model's defaults give it. Its body is left out. */
export function withChatTexts(call: ChatCall, texts: readonly string[]): ChatCall {
  const replaced = { ...call, ...rewriteCall(call, replacing(texts)) };
  const { withDefaults, hidesTokens } = call;
  return {
    request: replaced.request,
    ...(hidesTokens !== undefined && { hidesTokens }),
    ...(replaced.prompts !== undefined && { prompts: replaced.prompts }),
    ...(withDefaults !== undefined && { withDefaults: (defaults) => withChatTexts(withDefaults(defaults), texts) }),
    moderationInput: () => ({
      texts: chatTextsOf(replaced).flatMap(moderatedTexts),
      unmoderatable: call.moderationInput().unmoderatable,
    }),
  };
}

function rewriteCall(
  { request, prompts }: ChatCall,
  rewrite: Rewrite,
  channels = REQUEST,
): Pick<ChatCall, "request" | "prompts"> {
  const rewritten = prompts?.map((prompt) => rewriteFields(prompt, RAW_PROMPT, rewrite));
  return {
    ...(rewritten !== undefined && { prompts: rewritten }),
    request: rewriteFields(request, channels, rewrite),
  };
}

/** IDs and choices are not moderated, and of schemas only their words are. */
function moderatedTexts({ text, kind }: ChannelText): string[] {
  if (kind === "word") return [];
  if (kind !== "structure") return [text];
  const words: string[] = [];
  JSON.parse(text, (_, value: unknown) => {
    if (typeof value === "string") words.push(value);
    return value;
  });
  return words;
}
