/** What of a chat request no local model can honour, whatever it is able to: found before it is asked of one. */

import { type Fault, invalidRequest, unsupportedValue } from "../../faults.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { isFunctionCall, type Message } from "./chat-messages.ts";
import { isFunctionTool, isKnownChoice } from "./chat-tools.ts";

/** Fields that an engine gets, or that the service honours itself. */
const SUPPORTED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "n",
  "frequency_penalty",
  "presence_penalty",
  "repeat_penalty",
  "repetition_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning_effort",
  "moderation",
]);

/** Bookkeeping: accepted everywhere, since an answer without it is still the answer that was asked for. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set([
  "user",
  "metadata",
  "store",
  "service_tier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
]);

interface Refused {
  asksForNothing(value: unknown): boolean;
  /** What to do instead. */
  instead?: string;
}

/** Known fields that change the answer, and that no local model has. */
const REFUSED: Readonly<Record<string, Refused>> = {
  functions: {
    asksForNothing: (value) => Array.isArray(value) && value.length === 0,
    instead: "'tools' has taken its place",
  },
  function_call: { asksForNothing: (value) => value === "none", instead: "'tool_choice' has taken its place" },
  modalities: { asksForNothing: (value) => JSON.stringify(value) === '["text"]', instead: "it answers with text" },
  audio: { asksForNothing: never, instead: "it answers with text" },
  prediction: { asksForNothing: never },
  web_search_options: { asksForNothing: never, instead: "it reads nothing but the messages" },
  verbosity: { asksForNothing: (value) => value === "medium", instead: "say in a message how long the answer may be" },
};

function never(): boolean {
  return false;
}

/** The first of it, as a Fault that names the field. */
export function firstUnsupportedField(body: ChatCompletionBody): Fault | undefined {
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined || value === null || SUPPORTED_FIELDS.has(field) || IGNORED_FIELDS.has(field)) continue;
    const refused = Object.hasOwn(REFUSED, field) ? REFUSED[field] : undefined;
    if (refused === undefined) return invalidRequest(`Unknown parameter: '${field}'.`, field);
    if (refused.asksForNothing(value)) continue;
    const instead = refused.instead === undefined ? "" : `: ${refused.instead}`;
    return unsupportedValue(`This model does not support '${field}'${instead}.`, field);
  }
  return unsupportedInFormat(body) ?? unsupportedInTools(body) ?? unsupportedInMessages(body.messages);
}

/** With what those name who write the schema's envelope flat. */
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "json_schema", "schema", "name", "description", "strict"]);

function unsupportedInFormat({ response_format: format = { type: "text" } }: ChatCompletionBody): Fault | undefined {
  const field = Object.keys(format).find(
    (each) => !FORMAT_FIELDS.has(each) && format[each] !== undefined && format[each] !== null,
  );
  if (field === undefined) return undefined;
  return unsupportedValue(`This model does not support '${field}' in response_format.`, `response_format.${field}`);
}

function unsupportedInTools({ tools = [], tool_choice: choice }: ChatCompletionBody): Fault | undefined {
  const index = tools.findIndex((tool) => !isFunctionTool(tool));
  if (index >= 0) {
    const message = `This model's tools are functions, not of the type '${tools[index]?.type}'.`;
    return unsupportedValue(message, `tools[${index}].type`);
  }
  if (choice === undefined || typeof choice === "string" || isKnownChoice(choice)) return undefined;
  return unsupportedValue(`This model does not know the tool choice '${choice.type}'.`, "tool_choice.type");
}

function unsupportedInMessages(messages: readonly Message[]): Fault | undefined {
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const fault = unsupportedInMessage(message, path) ?? unsupportedInCalls(message, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * By role; `*`: of each. What an answer says beside its text comes back with the next question: its reasoning, which
 * models do not read again, and what clients have parsed of it. A tool's name is known by the call that it answers.
 */
const MESSAGE_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  "*": new Set(["role", "content"]),
  assistant: new Set(["tool_calls", "reasoning_content", "reasoning", "parsed"]),
  tool: new Set(["tool_call_id", "name"]),
};

function unsupportedInMessage(message: Message, path: string): Fault | undefined {
  if (message.role === "function") {
    const why = "the role 'tool' has taken its place";
    return unsupportedValue(`This model does not support messages with the role 'function': ${why}.`, `${path}.role`);
  }
  if (Array.isArray(message.content)) {
    const index = message.content.findIndex(({ type }) => type !== "text" && type !== "image_url");
    const part = message.content[index];
    if (part !== undefined) {
      const param = `${path}.content[${index}].type`;
      return unsupportedValue(`This model does not take parts of the type '${part.type}'.`, param);
    }
  }
  for (const [field, value] of Object.entries(message)) {
    const saysNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (saysNothing || MESSAGE_FIELDS["*"]?.has(field) || MESSAGE_FIELDS[message.role]?.has(field)) continue;
    return unsupportedValue(`This model does not support '${field}' in a message.`, `${path}.${field}`);
  }
  return undefined;
}

function unsupportedInCalls(message: Message, path: string): Fault | undefined {
  if (message.role !== "assistant") return undefined;
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const param = `${path}.tool_calls[${index}]`;
    if (!isFunctionCall(call)) {
      return unsupportedValue(`This model's tools are functions, not of the type '${call.type}'.`, `${param}.type`);
    }
    if (isObjectText(call.function.arguments)) continue;
    const message = "This model reads a call's arguments as a JSON object, and this text is not one.";
    return invalidRequest(message, `${param}.function.arguments`, "invalid_value");
  }
  return undefined;
}

function isObjectText(text: string): boolean {
  if (text === "") return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
