/** The texts of a chat that a model reads, and the call with others in their place. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatMessage, ToolCall } from "../../contracts/chat-message.ts";
import type { AnswerFormat, ChatRequest, RawPrompt, Tool } from "../../contracts/chat-model.ts";

/** `prompt`: what the caller's user or a tool wrote. `instructions`: what the caller's program wrote, such as tools. */
export type TextKind = "prompt" | "instructions";

/** Rewrites the texts of a call one after the other; it visits those of equal calls in the same order. */
class ChatTexts {
  readonly #rewrite: (text: string, kind: TextKind) => string;

  constructor(rewrite: (text: string, kind: TextKind) => string) {
    this.#rewrite = rewrite;
  }

  /** Returns the request with rewritten texts. */
  request(request: ChatRequest): ChatRequest {
    const { prompt, promptCacheKey, templateVariables } = request;
    return {
      ...request,
      messages: request.messages.map((message) => this.#message(message)),
      ...(prompt !== undefined && { prompt: this.prompt(prompt) }),
      tools: request.tools.map((tool) => this.#tool(tool)),
      format: this.#format(request.format),
      stop: request.stop.map((text) => this.#rewrite(text, "instructions")),
      ...(promptCacheKey !== undefined && { promptCacheKey: this.#rewrite(promptCacheKey, "instructions") }),
      ...(templateVariables !== undefined && {
        templateVariables: this.#value(templateVariables) as object as Record<string, unknown>,
      }),
    };
  }

  prompt(prompt: RawPrompt): RawPrompt {
    const { input, suffix } = prompt;
    return {
      ...prompt,
      input: typeof input === "string" ? this.#rewrite(input, "prompt") : input,
      ...(suffix !== undefined && { suffix: this.#rewrite(suffix, "prompt") }),
    };
  }

  #message(message: ChatMessage): ChatMessage {
    const { role, content, toolCalls, name, cacheMarks, reasoning } = message;
    const kind = role === "system" || role === "developer" ? "instructions" : "prompt";
    return {
      ...message,
      content:
        typeof content === "string"
          ? this.#rewrite(content, kind)
          : content.map((part) => (part.type === "text" ? { ...part, text: this.#rewrite(part.text, kind) } : part)),
      // The length of a rewritten text differs.
      ...(cacheMarks !== undefined && {
        cacheMarks: cacheMarks.slice(-1).map(({ ttl }) => ({ end: Number.MAX_SAFE_INTEGER, ttl })),
      }),
      ...(reasoning !== undefined && {
        reasoning: reasoning.map((block) => ({ ...block, text: this.#rewrite(block.text, "prompt") })),
      }),
      ...(toolCalls !== undefined && { toolCalls: toolCalls.map((call) => this.#call(call)) }),
      ...(name !== undefined && { name: this.#rewrite(name, "instructions") }),
    };
  }

  #call(call: ToolCall): ToolCall {
    return { ...call, arguments: this.#rewrite(call.arguments, "prompt") };
  }

  #tool(tool: Tool): Tool {
    const { description, parameters } = tool;
    return {
      ...tool,
      description: description === undefined ? undefined : this.#rewrite(description, "instructions"),
      parameters: this.#value(parameters),
    };
  }

  #format(format: AnswerFormat): AnswerFormat {
    return format.type === "json-schema" ? { ...format, schema: this.#value(format.schema) } : format;
  }

  /** Rewrites the strings of a schema except for those that are not prose. */
  #value(value: unknown, key = ""): unknown {
    if (typeof value === "string") return SCHEMA_KEYWORDS.has(key) ? value : this.#rewrite(value, "instructions");
    if (Array.isArray(value)) return value.map((each) => this.#value(each, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#value(each, name)]));
  }
}

/** Keywords of JSON Schema whose values have a syntax. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  "$ref",
  "$schema",
  "$id",
  "type",
  "format",
  "pattern",
  "required",
]);

/** Texts of a call in the order in which `withChatTexts` takes them. */
export function chatTextsOf(call: ChatCall): { text: string; kind: TextKind }[] {
  const texts: { text: string; kind: TextKind }[] = [];
  const reader = new ChatTexts((text, kind) => {
    texts.push({ text, kind });
    return text;
  });
  reader.request(call.request);
  for (const prompt of call.prompts ?? []) reader.prompt(prompt);
  return texts;
}

/** Returns the call with `texts` in place of its own, also in the form that a model's defaults give it. Its body is left out. */
export function withChatTexts(call: ChatCall, texts: readonly string[]): ChatCall {
  const replaced = replaceTexts(call, texts);
  const { withDefaults } = call;
  return {
    request: replaced.request,
    ...(replaced.prompts !== undefined && { prompts: replaced.prompts }),
    ...(withDefaults !== undefined && { withDefaults: (defaults) => withChatTexts(withDefaults(defaults), texts) }),
    moderationInput: () => ({
      texts: chatTextsOf(replaced).map(({ text }) => text),
      unmoderatable: call.moderationInput().unmoderatable,
    }),
  };
}

function replaceTexts(call: ChatCall, texts: readonly string[]): Pick<ChatCall, "request" | "prompts"> & ChatCall {
  let index = 0;
  const writer = new ChatTexts((text) => {
    const replacement = texts[index] ?? text;
    index += 1;
    return replacement;
  });
  const request = writer.request(call.request);
  const prompts = call.prompts?.map((prompt) => writer.prompt(prompt));
  return { ...call, request, ...(prompts !== undefined && { prompts }) };
}
