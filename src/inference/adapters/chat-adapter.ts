/** Adapts chats to the life of a request. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import { isChatProxy } from "../../contracts/chat-proxy.ts";
import { estimatePromptTokens, messageBytes, rawPromptBytes } from "../../contracts/estimate-tokens.ts";
import { imagesIn, messageText } from "../../contracts/message-text.ts";
import type { Fault } from "../../kernel/faults.ts";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import type { Usage } from "../../kernel/usage.ts";
import { currentSpan } from "../../observability/trace.ts";
import { chatParts } from "../cache/cache-parts.ts";
import { type ChatRunEvent, choicesOf, forwarderOf } from "../chat-call.ts";
import { ContentRecorder } from "../content-recorder.ts";
import type { UsageUpperBound } from "../quota.ts";
import type { PrefixKeys } from "../routing/prefix-affinity.ts";
import { checkCapabilities } from "./capability-check.ts";
import { continuePrompts } from "./continue-prompts.ts";
import type { TaskAdapter } from "./task-adapter.ts";

/**
 * Adapts a chat. `project`: the one that the request counts for. `mayRecord`: whether its content may be in traces and,
 * evaluated, in files, for which the caller does not ask.
 */
export function chatAdapter(
  call: ChatCall,
  project: string,
  onWait?: TaskAdapter<never, never>["onWait"],
  mayRecord = true,
): TaskAdapter<ChatModel, ChatRunEvent> {
  const { request } = call;
  let prepared = request;
  const recorder = mayRecord && currentSpan()?.recordsContent ? new ContentRecorder(call) : undefined;
  // An upstream reports usage only at the end, but a truncated answer has read its prompt too.
  const countPrompt = (used: Usage) => {
    if (used.promptTokens > 0) return;
    used.promptTokens = estimateChatTokens(call);
    used.estimated = true;
  };
  return {
    task: "chat",
    onWait,
    upperBound: () => chatUpperBound(call),
    prompts: Math.max(1, call.prompts?.length ?? 1),
    choices: choicesOf(call),
    cacheParts: (upstreams) => chatParts(call, upstreams),
    callerHeaders: request.callerHeaders,
    affinity: () => prefixKeysOf(call),
    refusal: (model, id) => checkCapabilities(call, model) ?? missingOperation(call, model, id),
    prepare: (model, signal) => {
      // Nothing has to be compiled, and the copies below would read the messages of a large body.
      if (request.format.type === "text" && forwarderOf(call, model) !== undefined) return undefined;
      const { samplingDefaults } = model;
      prepared = (samplingDefaults && call.withDefaults?.(samplingDefaults).request) ?? request;
      return model.prepare?.({ ...prepared, project }, signal)?.then((ready) => {
        prepared = ready;
      });
    },
    begin: (model, id, signal) => {
      const attempt = id === prepared.model ? prepared : { ...prepared, model: id };
      const forwarder = forwarderOf(call, model);
      if (forwarder !== undefined) return forwarder.proxy.forward(attempt, forwarder.passThrough, signal);
      const request = mayRecord ? attempt : { ...attempt, storesNothing: true as const };
      return call.prompts === undefined
        ? model.chat(request, signal)
        : continuePrompts(model, request, call.prompts, signal);
    },
    isForwarded: (model) => forwarderOf(call, model) !== undefined,
    // A local answer is bounded by the context window; an upstream's is pulled at the client's pace.
    drainsToBuffer: (model) => !isChatProxy(model),
    count: (event, used) => {
      if (event.type !== "start" && event.type !== "finish") countPrompt(used);
      recorder?.add(event);
      return countChat(event, used);
    },
    countAbandoned: countPrompt,
    isEnd: (event) => event.type === "finish",
    content: recorder && (() => recorder.content()),
  };
}

/** Returns the Fault for an operation other than chat completions that the upstream turned out to lack. */
function missingOperation(call: ChatCall, model: ChatModel, id: string): Fault | undefined {
  const { native, isTextCompletion } = forwarderOf(call, model)?.passThrough ?? {};
  if (native !== undefined) return model.missing?.(native.operation, id);
  const continues = isTextCompletion === true || call.request.prompt !== undefined || call.prompts !== undefined;
  return continues ? model.missing?.("completions", id) : undefined;
}

/** Estimates the tokens of a prompt; those of texts that an outline leaves out by their bytes. */
function estimateChatTokens({ request, outline, prompts = [], passThrough }: ChatCall): number {
  const bodyBytes = passThrough?.promptBytes() ?? rawPromptBytes(prompts);
  if (outline === undefined) return estimatePromptTokens(request, bodyBytes);
  const { tools, format } = request;
  const { messages, hiddenBytes } = outline();
  return estimatePromptTokens({ messages, tools, format }, bodyBytes, hiddenBytes);
}

/** Markup tokens around the prompt and each message in the longest of common chat templates. */
const TOKENS_AROUND = 16;

/** Upper bound of the tokens of an image in common models; the answer reports the exact number. */
const TOKENS_PER_IMAGE = 4096;

/** Returns the upper bound of a chat's usage: a token has at least one byte, and models read tools as written. */
function chatUpperBound(call: ChatCall): UsageUpperBound {
  const { request, prompts = [], passThrough } = call;
  const { tools, format, maxTokens } = request;
  const { messages, hiddenBytes } = call.outline?.() ?? { messages: request.messages, hiddenBytes: 0 };
  const bytes = messages.reduce(
    (sum, message) => sum + messageBytes(message) + 1,
    jsonBytes([[], tools, format]) + hiddenBytes,
  );
  const images = messages.reduce((sum, message) => sum + imagesIn(message).length, 0);
  return {
    promptTokens:
      Math.max(bytes, passThrough?.promptBytes() ?? 0, rawPromptBytes(prompts)) +
      TOKENS_PER_IMAGE * images +
      TOKENS_AROUND * (messages.length + Math.max(1, prompts.length)),
    completionTokens: maxTokens === undefined ? undefined : maxTokens * choicesOf(call),
    audioBytes: 0,
    characters: 0,
  };
}

/**
 * Characters of the shared beginning and of the conversation's first message that decide. A shorter system prompt is
 * evaluated quickly, and vLLM and OpenAI cache nothing below 16 and 1024 tokens.
 */
const PREFIX_LENGTH = 1024;

/**
 * Returns the keys of prefix affinity. A conversation is known by its system prompt, tools and first user message, which
 * all its turns repeat; a `prompt_cache_key` takes their place.
 */
function prefixKeysOf({ request, prompts = [] }: ChatCall): PrefixKeys {
  const { promptCacheKey, messages, tools } = request;
  if (promptCacheKey !== undefined) return { conversation: `key:${promptCacheKey}`, shared: undefined };
  let shared = prompts[0]?.input.slice(0, PREFIX_LENGTH).toString() ?? "";
  for (const { name } of tools) shared += `${name}\n`;
  let first = "";
  for (const message of messages) {
    const text = `${message.role}:${messageText(message).slice(0, PREFIX_LENGTH)}\n`;
    if (message.role === "user") {
      first = text;
      break;
    }
    if (shared.length < PREFIX_LENGTH) shared += text;
  }
  shared = shared.slice(0, PREFIX_LENGTH);
  return { conversation: shared + first, shared: shared.length < PREFIX_LENGTH ? undefined : shared };
}

function countChat(event: ChatRunEvent, used: Usage): boolean {
  switch (event.type) {
    case "start":
      used.promptTokens = event.promptTokens;
      used.cachedTokens = event.cachedTokens;
      return false;
    case "echo":
    case "choice-end":
      return false;
    case "finish":
      Object.assign(used, event.usage);
      // The entire answer may come with its end.
      return event.usage.completionTokens > 0;
    case "tool-call":
      used.completionTokens = event.completionTokens;
      countCall(event.name, used);
      return true;
    default:
      used.completionTokens = event.completionTokens;
      return true;
  }
}

/** The final report of an upstream contains the calls; that of a local engine does not. */
function countCall(name: string, used: Usage): void {
  const { functionCalls = {} } = used.details ?? {};
  const before = Object.hasOwn(functionCalls, name) ? (functionCalls[name] ?? 0) : 0;
  used.details = { ...used.details, functionCalls: { ...functionCalls, [name]: before + 1 } };
}
