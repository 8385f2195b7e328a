/** Converts a validated body of POST /v1/messages to a chat call. */

import type { AnswerFormat, ChatDefaults, ChatRequest, Tool } from "../../contracts/chat-model.ts";
import type { PassThrough } from "../../contracts/chat-proxy.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import type { Fault } from "../../kernel/faults.ts";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import { cacheMarkOf } from "../cache-control.ts";
import { messageContentOf } from "../forwarded-content.ts";
import { toModerationInput } from "../moderation-input.ts";
import {
  firstRefusedField,
  type UnknownFieldsPolicy,
  type UnsupportedField,
  unknownFieldsOf,
} from "../openai/unknown-fields.ts";
import { toUpstreamFields } from "../upstream-fields.ts";
import { deferredTools, referencedTools } from "./deferred-tools.ts";
import type { MessagesBody, MessagesPrompt } from "./messages-body.ts";
import { toChatMessages } from "./messages-content.ts";
import {
  firstHostedTool,
  hostedTools,
  ignoredToolFields,
  type ServedTypes,
  toToolChoice,
  toTools,
} from "./messages-tools.ts";
import { NATIVE_MESSAGES } from "./native-messages.ts";

/** What this service runs of a request's MCP servers and server tools. */
export interface ServedMcp {
  /** Types in `tools`. */
  types: ServedTypes;
  /** Names that the model calls their tools by, by the names that `tool_choice` may have. */
  names: ReadonlyMap<string, string>;
  functions: readonly Tool[];
}

type Fields = Readonly<Record<string, unknown>>;

interface MessagesCall {
  request: ChatRequest;
  passThrough: PassThrough;
  moderationInput(): ReturnType<typeof toModerationInput>;
  withDefaults(defaults: ChatDefaults): MessagesCall;
}

/** Converts the body to a call that upstreams with the Messages API get as it is. Throws a Fault. */
export function toMessagesCall(
  body: MessagesBody,
  callerHeaders: CallerHeaders,
  policy: UnknownFieldsPolicy,
  mcp?: ServedMcp | undefined,
  defaults: ChatDefaults = {},
): MessagesCall {
  const omitted = defaultChatRequest(defaults);
  const request: ChatRequest = {
    ...omitted,
    ...toPromptParts(body, mcp),
    model: body.model,
    maxTokens: body.max_tokens,
    temperature: body.temperature ?? omitted.temperature,
    topP: body.top_p ?? omitted.topP,
    topK: body.top_k === 0 ? undefined : (body.top_k ?? omitted.topK),
    stop: body.stop_sequences ?? [],
    toolChoice: toToolChoice(body.tool_choice, body.tools ?? [], mcp?.names),
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use !== true,
    // A budget allows thinking without requiring it, so models that do not think answer too.
    reasoningEffort: body.thinking?.type === "disabled" ? "none" : omitted.reasoningEffort,
    ...toThinking(body),
    ...toContinuation(body),
    ...cacheMarkOf(body),
    ...toUpstreamFields({ user: userOf(body), service_tier: tierOf(body) }),
    callerHeaders,
  };
  const passThrough: PassThrough = {
    native: NATIVE_MESSAGES,
    body,
    stream: body.stream === true,
    unsupportedLocally: () => firstUnsupported(body, policy, mcp?.types),
    promptBytes: () => jsonBytes([body.system, body.messages, body.tools], "data"),
    contentOf: messageContentOf,
  };
  return {
    request,
    passThrough,
    moderationInput: () => toModerationInput(request),
    withDefaults: (more) => toMessagesCall(body, callerHeaders, policy, mcp, { ...more, ...defaults }),
  };
}

/** Length up to which OpenAI's API takes the identifier of a user. */
const MAX_USER_LENGTH = 64;

/** Returns the user for upstreams of OpenAI's kind; undefined without one, or where it is too long for them. */
function userOf({ metadata }: Fields): string | undefined {
  const id = (metadata as { user_id?: unknown } | null | undefined)?.user_id;
  return typeof id === "string" && id.length <= MAX_USER_LENGTH ? id : undefined;
}

/** Anthropic's `standard_only` is OpenAI's `default`; `auto` is the default of both. */
function tierOf({ service_tier: tier }: Fields): string | undefined {
  return tier === "standard_only" ? "default" : undefined;
}

/** Converts the fields that the prompt consists of. Throws a Fault. */
export function toPromptParts(
  body: MessagesPrompt,
  mcp?: ServedMcp,
): Pick<ChatRequest, "messages" | "tools" | "format"> {
  // A search of this service loads them otherwise.
  const deferred = mcp === undefined ? deferredTools(body) : [];
  const references = deferred.length === 0 ? new Set<string>() : referencedTools(body);
  const hidden = new Set(deferred.map(({ name }) => name).filter((name) => !references.has(String(name))));
  const tools = toTools(body.tools ?? []).filter(({ name }) => !hidden.has(name));
  return {
    messages: toChatMessages(body.system, body.messages),
    tools: [...tools, ...(mcp?.functions ?? [])],
    format: toFormat(body),
  };
}

/** A last message of the assistant is the beginning of the answer. */
function toContinuation({ messages }: MessagesBody): Pick<ChatRequest, "continuation"> {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return {};
  const { content } = last;
  const isText = typeof content === "string" || content.every(({ type }) => type === "text");
  return isText ? { continuation: "preferred" } : {};
}

function toThinking({ thinking, output_config: config }: MessagesBody): Pick<ChatRequest, "thinking"> {
  const effort = config?.effort;
  const isEnabled = thinking !== undefined && thinking.type !== "disabled";
  if (!isEnabled && effort === undefined) return {};
  const budget = thinking?.budget_tokens;
  return { thinking: { isEnabled, budgetTokens: typeof budget === "number" ? budget : undefined, effort } };
}

function toFormat({ output_config: config, output_format: former }: MessagesPrompt): AnswerFormat {
  const param = config?.format === undefined ? "output_format.schema" : "output_config.format.schema";
  const format = config?.format ?? former;
  return format === undefined ? { type: "text" } : { type: "json-schema", schema: format.schema, param };
}

/**
 * Whether the answer shows the model's thinking. Clients that did not request it take the first block for the answer.
 */
export function showsThinking({ thinking }: MessagesBody): boolean {
  return thinking !== undefined && thinking.type !== "disabled" && thinking.display !== "omitted";
}

const KNOWN_FIELDS = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "max_tokens",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  // Bookkeeping that does not change the answer.
  "metadata",
  "service_tier",
  "cache_control",
];

const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  container: { instead: "it runs no code" },
  compaction: { instead: "shorten the conversation in the client" },
  // Names of OpenAI's APIs.
  max_completion_tokens: { instead: "use 'max_tokens'" },
  stop: { isDefault: (value) => Array.isArray(value) && value.length === 0, instead: "use 'stop_sequences'" },
  response_format: { instead: "use 'output_config.format'" },
  reasoning_effort: { instead: "use 'thinking'" },
  mcp_servers: {
    isDefault: (value) => Array.isArray(value) && value.length === 0,
    instead: "name a server of the operator without 'url' (the setting mcp.caller_servers admits addresses)",
  },
};

/** Returns the Fault for the first field or tool that only an upstream with the Messages API may support. */
function firstUnsupported(
  body: MessagesBody,
  policy: UnknownFieldsPolicy,
  served: ServedTypes | undefined,
): Fault | undefined {
  const fields = served !== undefined ? [...KNOWN_FIELDS, "mcp_servers"] : KNOWN_FIELDS;
  const rules = { known: fields, unsupported: UNSUPPORTED, policy };
  return firstRefusedField(body, rules) ?? firstHostedTool(body.tools ?? [], served);
}

/** Throws a Fault for a misspelled field, or any unknown one if `policy` says so, of a prompt that is only counted. */
export function checkCountedFields(body: MessagesPrompt, policy: UnknownFieldsPolicy): void {
  const accepted = policy === "refuse" ? KNOWN_FIELDS : [...KNOWN_FIELDS, ...Object.keys(UNSUPPORTED)];
  const fault = firstRefusedField(body, { known: accepted, unsupported: {}, policy });
  if (fault !== undefined) throw fault;
}

/** Returns the paths of fields without effect on models that answer with typed events. */
export function ignoredFields(body: MessagesPrompt, served?: ServedTypes): string[] {
  const effort = body.output_config?.effort === undefined ? [] : ["output_config.effort"];
  const fields = served !== undefined ? [...KNOWN_FIELDS, "mcp_servers"] : KNOWN_FIELDS;
  const tools = body.tools ?? [];
  return [
    ...unknownFieldsOf(body, fields),
    ...effort,
    ...ignoredToolFields(tools),
    ...ignoredCitations(body),
    ...hostedTools(tools, served),
  ];
}

/** Models that answer with typed events cite nothing. */
function ignoredCitations({ messages }: MessagesPrompt): string[] {
  const cites = messages.some(
    ({ content }) => typeof content !== "string" && content.some((block) => isCitable(block)),
  );
  return cites ? ["messages[].content[].citations"] : [];
}

function isCitable(block: Readonly<Record<string, unknown>>): boolean {
  const { citations } = block as { citations?: { enabled?: unknown } | readonly unknown[] | null };
  return Array.isArray(citations)
    ? citations.length > 0
    : (citations as { enabled?: unknown } | null)?.enabled === true;
}
