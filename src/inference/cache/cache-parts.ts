/** What determines the answer to a request: each field is in the key, unless its decision here says otherwise. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatModel, ChatRequest } from "../../contracts/chat-model.ts";
import type { PassThrough } from "../../contracts/chat-proxy.ts";
import type { EmbeddingRequest, RerankRequest } from "../../contracts/embedding-model.ts";
import type { ModerationInput } from "../../contracts/moderation-model.ts";
import type { SpeechRequest } from "../../contracts/speech-model.ts";
import { forwarderOf } from "../chat-call.ts";
import type { BypassReason, CacheParts } from "./cache-outcome.ts";

type Decisions<Request> = Readonly<Record<keyof Request, "key" | "ignored">>;

/** `model`: the resolved ID is in the key. `project`: the scope is. `callerHeaders`: those that are forwarded are. */
const CHAT: Decisions<ChatRequest> = {
  model: "ignored",
  messages: "key",
  prompt: "key",
  continuation: "key",
  repeatsBeginning: "ignored",
  maxTokens: "key",
  minTokens: "key",
  stop: "key",
  choices: "key",
  format: "key",
  tools: "key",
  toolChoice: "key",
  parallelToolCalls: "key",
  topLogprobs: "key",
  reasoningEffort: "key",
  thinking: "key",
  cache: "ignored",
  verbosity: "key",
  templateVariables: "key",
  temperature: "key",
  topP: "key",
  topK: "key",
  minP: "key",
  seed: "key",
  frequencyPenalty: "key",
  presencePenalty: "key",
  repeatPenalty: "key",
  repeatLastN: "key",
  logitBias: "key",
  callerHeaders: "ignored",
  project: "ignored",
  storesNothing: "ignored",
  // Only says where the prompt's prefix may have been evaluated.
  promptCacheKey: "ignored",
  upstreamFields: "ignored",
};

/** Fields that are made of nothing but the body of a chat or text completion. */
const LARGE = { messages: "ignored", prompt: "ignored", tools: "ignored", format: "ignored" } as const;

const EMBEDDING: Decisions<EmbeddingRequest> = {
  model: "ignored",
  inputs: "key",
  dimensions: "key",
  usesOpenAiName: "key",
  longInput: "key",
  tokenIds: "key",
  purpose: "key",
  encoding: "key",
  project: "ignored",
  user: "ignored",
  callerHeaders: "ignored",
};

const RERANK: Decisions<RerankRequest> = {
  model: "ignored",
  query: "key",
  documents: "key",
  project: "ignored",
  callerHeaders: "ignored",
};

const SPEECH: Decisions<SpeechRequest> = {
  model: "ignored",
  text: "key",
  voice: "key",
  speed: "key",
  instructions: "key",
  wordTimes: "key",
  rewritten: "key",
  callerHeaders: "ignored",
};

export const embeddingParts = (request: Partial<EmbeddingRequest>) => toParts("embedding", request, EMBEDDING);
export const rerankParts = (request: Partial<RerankRequest>) => toParts("rerank", request, RERANK);
export const speechParts = (request: Partial<SpeechRequest>) => toParts("speech", request, SPEECH);

/** Images are part of an input; whether the model takes them is not the request's. */
export function moderationParts(inputs: readonly ModerationInput[]): CacheParts {
  return toParts("moderation", { inputs }, { inputs: "key" });
}

/**
 * Fields of a forwarded body without effect on the answer, which does not repeat them: `model` is in the key as the
 * resolved ID, and the others identify the caller's user or help an upstream's prefix cache. Bodies in an upstream's
 * native format are repeated in the answer, so all their fields are in the key.
 */
const IGNORED_BODY_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
]);

/** Fields that let an upstream use tools or sources, whose results change. */
const TOOL_FIELDS = ["tools", "functions", "web_search_options", "plugins", "mcp_servers", "container"] as const;

/**
 * Returns the parts of a chat, or why its answer is not cached. `models`: the open models of the deployments; undefined
 * for one that is not open.
 */
export function chatParts(
  call: ChatCall,
  models: readonly (ChatModel | undefined)[],
): CacheParts | Extract<BypassReason, "stored" | "unsupported"> {
  const { request, prompts, passThrough } = call;
  if (call.isStored === true) return "stored";
  const typed = [pick(request, CHAT), prompts];
  const facts = { isSampled: request.temperature > 0, hasTools: request.tools.length > 0, isForwardable: false };
  if (passThrough === undefined) return { ...facts, parts: ["chat", typed] };
  if (models.every((model) => model !== undefined && forwarderOf(call, model) === undefined)) {
    return passThrough.unsupportedLocally() === undefined ? { ...facts, parts: ["chat", typed] } : "unsupported";
  }
  const { body, native, isTextCompletion, stream } = passThrough;
  if (native?.isStateful === true) return "stored";
  const hasTools = facts.hasTools || TOOL_FIELDS.some((name) => hasContent(body[name]));
  const form = [native?.operation, native?.headers, isTextCompletion === true, stream];
  // The body of a chat completion has the large fields already.
  const small = native === undefined ? pick(request, { ...CHAT, ...LARGE }) : typed;
  return { ...facts, hasTools, isForwardable: true, parts: ["chat", small, form, bodyParts(passThrough)] };
}

/** Returns the fields in the order of their names: clients write them in any. */
function bodyParts({ body, native }: PassThrough): unknown {
  const names = Object.keys(body).filter((name) => name !== "model" && (native !== undefined || isInKey(name)));
  return names.sort().map((name) => [name, body[name]]);
}

function isInKey(name: string): boolean {
  return !IGNORED_BODY_FIELDS.has(name);
}

function hasContent(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function toParts<Request>(name: string, request: Partial<Request>, decisions: Decisions<Request>): CacheParts {
  return { parts: [name, pick(request, decisions)], isSampled: false, hasTools: false, isForwardable: false };
}

/** Fields that are not set are left out, so that a field of a later version does not change earlier keys. */
function pick<Request>(request: Partial<Request>, decisions: Decisions<Request>): unknown {
  const names = Object.keys(decisions) as (keyof Request)[];
  return names.flatMap((name) =>
    decisions[name] === "key" && request[name] !== undefined ? [[name, request[name]]] : [],
  );
}
