/** Output items of a response, with the events of their growth. */

import type { TokenLogprob } from "../../contracts/chat-model.ts";
import { newId } from "../../kernel/id.ts";
import type { AnswerPart } from "../answer-parts.ts";
import { CALL_PREFIXES, type CallerToolType, toCallItem, toEmptyCallItem } from "./caller-tools.ts";
import type { Annotation } from "./item-events.ts";
import { toEncryptedContent } from "./reasoning-content.ts";
import type { ToolName } from "./responses-tools.ts";

export interface ResponseEvent {
  type: string;
  [field: string]: unknown;
}

type Status = "in_progress" | "completed" | "incomplete";

export interface OutputItem {
  /** Renders the item in its present state. */
  toJson(status: Status): Record<string, unknown>;
  begin(): ResponseEvent[];
  append(text: string, logprobs: readonly TokenLogprob[]): ResponseEvent[];
  end(): ResponseEvent[];
  /** Adds citations; only of texts. */
  annotate?(annotations: readonly Annotation[]): ResponseEvent[];
  /** Adds what the provider recognizes; of reasoning only. */
  sign?(signature: string): void;
}

export interface ItemOptions {
  names: ReadonlyMap<string, ToolName>;
  /** Whether the reasoning appears as a summary, where clients that request one read it. */
  summarizes: boolean;
}

export function newItem(part: AnswerPart, index: number, { names, summarizes }: ItemOptions): OutputItem {
  if (part.type === "text") return new MessageItem(index);
  if (part.type === "refusal") return new RefusalItem(index);
  if (part.type === "reasoning") return new ReasoningItem(index, summarizes, part.encrypted);
  const tool = names.get(part.name) ?? { type: "function", name: part.name, namespace: undefined };
  if (tool.type === "custom") return new CustomCallItem(index, part.id, tool);
  if (tool.type === "function") return new FunctionCallItem(index, part.id, tool);
  return new CallerToolItem(index, part.id, tool.type);
}

class MessageItem implements OutputItem {
  readonly #id = newId("msg_");
  readonly #place: { item_id: string; output_index: number; content_index: number };
  #text = "";
  readonly #logprobs: unknown[] = [];
  readonly #annotations: Annotation[] = [];

  constructor(index: number) {
    this.#place = { item_id: this.#id, output_index: index, content_index: 0 };
  }

  get #part() {
    return { type: "output_text", text: this.#text, annotations: this.#annotations, logprobs: this.#logprobs };
  }

  toJson(status: Status) {
    const content = status === "in_progress" ? [] : [this.#part];
    return { id: this.#id, type: "message", status, role: "assistant", content };
  }

  begin() {
    return [
      {
        type: "response.content_part.added",
        ...this.#place,
        part: { ...this.#part, text: "", annotations: [], logprobs: [] },
      },
    ];
  }

  append(text: string, logprobs: readonly TokenLogprob[]) {
    this.#text += text;
    const shown = logprobs.map(({ token, logprob, bytes, top }) => ({ token, logprob, bytes, top_logprobs: top }));
    this.#logprobs.push(...shown);
    return [{ type: "response.output_text.delta", ...this.#place, delta: text, logprobs: shown }];
  }

  annotate(annotations: readonly Annotation[]) {
    const first = this.#annotations.length;
    this.#annotations.push(...annotations);
    return annotations.map((annotation, index) => {
      const annotation_index = first + index;
      return { type: "response.output_text.annotation.added", ...this.#place, annotation_index, annotation };
    });
  }

  end() {
    return [
      { type: "response.output_text.done", ...this.#place, text: this.#text, logprobs: this.#logprobs },
      { type: "response.content_part.done", ...this.#place, part: this.#part },
    ];
  }
}

/** Message in which the model declines to answer. */
class RefusalItem implements OutputItem {
  readonly #id = newId("msg_");
  readonly #place: { item_id: string; output_index: number; content_index: number };
  #text = "";

  constructor(index: number) {
    this.#place = { item_id: this.#id, output_index: index, content_index: 0 };
  }

  get #part() {
    return { type: "refusal", refusal: this.#text };
  }

  toJson(status: Status) {
    const content = status === "in_progress" ? [] : [this.#part];
    return { id: this.#id, type: "message", status, role: "assistant", content };
  }

  begin() {
    return [{ type: "response.content_part.added", ...this.#place, part: this.#part }];
  }

  append(text: string) {
    this.#text += text;
    return [{ type: "response.refusal.delta", ...this.#place, delta: text }];
  }

  end() {
    return [
      { type: "response.refusal.done", ...this.#place, refusal: this.#text },
      { type: "response.content_part.done", ...this.#place, part: this.#part },
    ];
  }
}

class ReasoningItem implements OutputItem {
  readonly #id = newId("rs_");
  readonly #summarizes: boolean;
  readonly #place: Record<string, unknown>;
  #text = "";
  #signature: string | undefined;
  readonly #encrypted: string | undefined;

  constructor(index: number, summarizes: boolean, encrypted: string | undefined) {
    this.#encrypted = encrypted;
    this.#summarizes = summarizes;
    const position = summarizes ? { summary_index: 0 } : { content_index: 0 };
    this.#place = { item_id: this.#id, output_index: index, ...position };
  }

  get #part() {
    return { type: this.#summarizes ? "summary_text" : "reasoning_text", text: this.#text };
  }

  toJson(status: Status) {
    const isEmpty = this.#encrypted !== undefined || (this.#text === "" && this.#signature !== undefined);
    const parts = status === "in_progress" || isEmpty ? [] : [this.#part];
    const texts = this.#summarizes ? { summary: parts } : { summary: [], content: parts };
    const encrypted_content = toEncryptedContent({ signature: this.#signature, encrypted: this.#encrypted });
    return { id: this.#id, type: "reasoning", status, ...texts, encrypted_content };
  }

  sign(signature: string) {
    this.#signature = signature;
  }

  begin() {
    if (this.#encrypted !== undefined) return [];
    const type = this.#summarizes ? "response.reasoning_summary_part.added" : "response.content_part.added";
    return [{ type, ...this.#place, part: this.#part }];
  }

  append(text: string) {
    this.#text += text;
    const type = this.#summarizes ? "response.reasoning_summary_text.delta" : "response.reasoning_text.delta";
    return [{ type, ...this.#place, delta: text }];
  }

  end() {
    if (this.#encrypted !== undefined) return [];
    const [text, part] = this.#summarizes
      ? ["response.reasoning_summary_text.done", "response.reasoning_summary_part.done"]
      : ["response.reasoning_text.done", "response.content_part.done"];
    return [
      { type: text as string, ...this.#place, text: this.#text },
      { type: part as string, ...this.#place, part: this.#part },
    ];
  }
}

/** Common state of both kinds of tool call. */
class CallItem {
  protected readonly id: string;
  protected readonly place: { item_id: string; output_index: number };
  protected readonly call: Record<string, unknown>;
  protected arguments = "";

  constructor(prefix: string, index: number, callId: string, { name, namespace }: ToolName) {
    this.id = newId(prefix);
    this.place = { item_id: this.id, output_index: index };
    this.call = { call_id: callId, name, ...(namespace === undefined ? {} : { namespace }) };
  }

  begin() {
    return [];
  }
}

class FunctionCallItem extends CallItem implements OutputItem {
  constructor(index: number, callId: string, name: ToolName) {
    super("fc_", index, callId, name);
  }

  toJson(status: Status) {
    return { id: this.id, type: "function_call", status, ...this.call, arguments: this.arguments };
  }

  append(text: string) {
    this.arguments += text;
    return [{ type: "response.function_call_arguments.delta", ...this.place, delta: text }];
  }

  end() {
    const { name } = this.call;
    return [{ type: "response.function_call_arguments.done", ...this.place, name, arguments: this.arguments }];
  }
}

/** Custom tool call: the model calls a function of one string, and the client gets that string. */
class CustomCallItem extends CallItem implements OutputItem {
  constructor(index: number, callId: string, name: ToolName) {
    super("ctc_", index, callId, name);
  }

  toJson(status: Status) {
    const input = status === "in_progress" ? "" : this.#input();
    return { id: this.id, type: "custom_tool_call", status, ...this.call, input };
  }

  append(text: string) {
    this.arguments += text;
    return [];
  }

  end() {
    const input = this.#input();
    return [
      { type: "response.custom_tool_call_input.delta", ...this.place, delta: input },
      { type: "response.custom_tool_call_input.done", ...this.place, input },
    ];
  }

  /** Returns the string argument, or the raw arguments if they are truncated or invalid. */
  #input(): string {
    try {
      const { input } = JSON.parse(this.arguments) as { input?: unknown };
      return typeof input === "string" ? input : this.arguments;
    } catch {
      return this.arguments;
    }
  }
}

/** Call of a tool that OpenAI defines and the caller runs. Its arguments appear once they are complete. */
class CallerToolItem implements OutputItem {
  readonly #id: string;
  readonly #index: number;
  readonly #callId: string;
  readonly #type: CallerToolType;
  #arguments = "";

  constructor(index: number, callId: string, type: CallerToolType) {
    this.#id = newId(CALL_PREFIXES[type]);
    this.#index = index;
    this.#callId = callId;
    this.#type = type;
  }

  toJson(status: Status) {
    const item = status === "in_progress" ? undefined : toCallItem(this.#type, this.#callId, this.#arguments);
    const ended = item === undefined && status === "completed" ? "incomplete" : status;
    return { id: this.#id, status: ended, ...(item ?? toEmptyCallItem(this.#type, this.#callId)) };
  }

  begin() {
    return [];
  }

  append(text: string) {
    this.#arguments += text;
    return [];
  }

  end() {
    if (this.#type !== "shell") return [];
    const { action } = (toCallItem(this.#type, this.#callId, this.#arguments) ?? {}) as {
      action?: { commands: unknown };
    };
    const commands = Array.isArray(action?.commands) ? action.commands.map(String) : [];
    return commands.flatMap((command, command_index) => {
      const place = { output_index: this.#index, command_index };
      return [
        { type: "response.shell_call_command.added", ...place, command: "" },
        { type: "response.shell_call_command.delta", ...place, delta: command },
        { type: "response.shell_call_command.done", ...place, command },
      ];
    });
  }
}
