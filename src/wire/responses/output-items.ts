/** Output items of what a model writes, with the events of their growth. */

import type { TokenLogprob } from "../../contracts/chat-model.ts";
import { newId } from "../../kernel/id.ts";
import type { AnswerPart } from "../answer-parts.ts";
import { CallerToolItem, CustomCallItem, FunctionCallItem } from "./call-items.ts";
import type { Annotation } from "./item-events.ts";
import type { ItemStatus, OutputItem } from "./output-item.ts";
import { toEncryptedContent } from "./reasoning-content.ts";
import type { ToolName } from "./responses-tools.ts";

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

  toJson(status: ItemStatus) {
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

  toJson(status: ItemStatus) {
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

  toJson(status: ItemStatus) {
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
