/** Converts Cohere's requests to chat calls. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { AnswerFormat, ChatDefaults, ChatRequest } from "../../contracts/chat-model.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import type { FormatContext } from "../chat-format.ts";
import { toModerationInput } from "../moderation-input.ts";
import { writtenIn } from "../moderation-texts.ts";
import { type ChatCompletionBody, readChatBody } from "../openai/chat/chat-body.ts";
import { toChatCall } from "../openai/chat/chat-call.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "../openai/unknown-fields.ts";
import { toTypedCall } from "../typed-call.ts";
import { CohereChatBody, type Message } from "./chat-body.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the prompt without its documents as a body of chat completions, whose faults name the caller's messages. */
export function toChatBody({ model, messages, tools, tool_choice: choice }: CohereChatBody) {
  return readChatBody({
    model,
    messages: messages.map(toMessage),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice === "REQUIRED" ? "required" : "none" }),
  });
}

/**
 * Models here have no place for documents, so the last question begins with their texts. They are no system message:
 * whoever wrote them instructs nobody, and guardrails read them as they read what users send.
 */
function withDocuments(messages: ChatMessage[], { documents = [] }: CohereChatBody): ChatMessage[] {
  if (documents.length === 0) return messages;
  const texts = documents.map((document, index) => {
    const { id = `doc:${index}`, data } = typeof document === "string" ? { data: document } : document;
    return `Document ${id}:\n${textOf(data)}`;
  });
  const text = `Answer by these documents.\n\n${texts.join("\n\n")}`;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const question = messages[last];
  if (question === undefined) return [...messages, { role: "user", content: text }];
  const { content } = question;
  const joined: ChatMessage["content"] =
    typeof content === "string" ? `${text}\n\n${content}` : [{ type: "text", text }, ...content];
  return messages.with(last, { ...question, content: joined });
}

/** Contents of the request's documents, and of those in results of tools. */
function documentsIn({ documents = [], messages }: CohereChatBody): unknown[] {
  const results = messages.flatMap(({ role, content }) => (role === "tool" && Array.isArray(content) ? content : []));
  return [
    ...documents.map((document) => (typeof document === "string" ? document : document.data)),
    ...(results as Fields[]).flatMap(({ document }) => (document as { data: unknown } | undefined)?.data ?? []),
  ];
}

function toMessage(message: Message): object {
  switch (message.role) {
    case "assistant":
      return toAssistantMessage(message);
    case "tool": {
      const { content } = message;
      const text = typeof content === "string" ? content : content.map(textOfPart).join("\n");
      return { role: "tool", tool_call_id: message.tool_call_id, content: text };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

function toAssistantMessage({ content, tool_calls: calls, tool_plan: plan }: Extract<Message, { role: "assistant" }>) {
  const text = typeof content === "string" ? content : (content ?? []).map(textOfPart).join("");
  const thought = typeof content === "string" ? "" : (content ?? []).map(({ thinking }) => thinking ?? "").join("");
  const reasoning = thought || (plan ?? "");
  const hasCalls = calls != null && calls.length > 0;
  return {
    role: "assistant",
    content: text === "" && hasCalls ? null : text,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(hasCalls && { tool_calls: calls.map((call) => ({ ...call, type: "function" })) }),
  };
}

function textOfPart({ text, document }: Fields): string {
  if (typeof text === "string") return text;
  return document === undefined ? "" : textOf((document as { data: unknown }).data);
}

/** Fields of a document stand in lines, as whoever wrote them would: what is quoted is judged less. */
function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  const lines = Object.entries(data as Fields).map(([name, value]) => {
    return `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return lines.join("\n");
}

/** `chat`: the prompt, with content in place of what it refers to. Throws a Fault. */
export function toCohereCall(
  body: CohereChatBody,
  chat: ChatCompletionBody,
  context: FormatContext,
  defaults: ChatDefaults = {},
): ChatCall {
  const { messages, tools, toolChoice } = toTypedCall(toChatCall(chat, context.callerHeaders, "ignore")).request;
  const omitted = defaultChatRequest(defaults);
  const request: ChatRequest = {
    ...omitted,
    model: chat.model,
    messages: withDocuments(messages, body),
    tools: body.strict_tools === true ? tools.map((tool) => ({ ...tool, isStrict: true })) : tools,
    toolChoice,
    format: toFormat(body),
    maxTokens: body.max_tokens ?? omitted.maxTokens,
    temperature: body.temperature ?? omitted.temperature,
    topP: body.p ?? omitted.topP,
    topK: body.k === 0 ? undefined : (body.k ?? omitted.topK),
    seed: body.seed,
    stop: body.stop_sequences ?? [],
    presencePenalty: body.presence_penalty ?? omitted.presencePenalty,
    frequencyPenalty: body.frequency_penalty ?? omitted.frequencyPenalty,
    ...toThinking(body, omitted),
    callerHeaders: context.callerHeaders,
  };
  return {
    request,
    moderationInput: () => {
      const input = toModerationInput(request);
      // What surrounds a document hides it from classifiers.
      return { ...input, texts: [...input.texts, ...documentsIn(body).flatMap(writtenIn)] };
    },
    withDefaults: (more) => toCohereCall(body, chat, context, { ...more, ...defaults }),
  };
}

function toFormat({ response_format: format }: CohereChatBody): AnswerFormat {
  if (format === undefined || format.type === "text") return { type: "text" };
  const name = format.json_schema === undefined ? "schema" : "json_schema";
  const schema = format[name];
  if (schema === undefined) return { type: "json" };
  return { type: "json-schema", schema, param: `response_format.${name}` };
}

/** A budget allows thinking without requiring it, so models that do not think answer too. */
function toThinking(
  { thinking }: CohereChatBody,
  { reasoningEffort }: Pick<ChatRequest, "reasoningEffort">,
): Pick<ChatRequest, "reasoningEffort" | "thinking"> {
  if (thinking === undefined) return { reasoningEffort };
  if (thinking.type === "disabled") return { reasoningEffort: "none" };
  return { reasoningEffort, thinking: { isEnabled: true, budgetTokens: thinking.token_budget } };
}

const isFalse = (value: unknown) => value === false;
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  logprobs: { isDefault: isFalse, instead: "POST /v1/chat/completions has them" },
  raw_prompting: { isDefault: isFalse, instead: "POST /v1/completions continues prompts as they are" },
  // Fields of version 1.
  message: { instead: "send 'messages'" },
  chat_history: { instead: "send 'messages'" },
  connectors: { instead: "send 'tools' or 'documents'" },
};

/** Safety is the project's to decide, all requests have the same priority, and models here cite nothing. */
const WITHOUT_EFFECT = ["safety_mode", "priority", "citation_options"] as const;

/** Returns the names of fields without effect. Throws a Fault for one that must not be ignored. */
export function ignoredFields(body: CohereChatBody, policy: UnknownFieldsPolicy): string[] {
  const fields = { known: Object.keys(CohereChatBody.shape), unsupported: UNSUPPORTED };
  const isWithoutEffect = (name: (typeof WITHOUT_EFFECT)[number]) => body[name] !== undefined;
  return [...checkUnknownFields(body, { ...fields, policy }), ...WITHOUT_EFFECT.filter(isWithoutEffect)];
}
