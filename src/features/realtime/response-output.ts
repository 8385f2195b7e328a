/** Output items of one response, and the events about them. */

import { newId } from "../../kernel/id.ts";
import type {
  ConversationItem,
  FunctionCallItem,
  ItemContent,
  MessageItem,
  WrittenItem,
} from "../../wire/realtime/conversation-items.ts";
import { isRealtimeEvent, type McpItem, toMcpItem } from "../../wire/realtime/mcp-items.ts";
import type { ServerEvent } from "../../wire/realtime/server-event.ts";
import type { ItemEvent } from "../../wire/responses/item-events.ts";

export interface ResponseOutputOptions {
  responseId: string;
  send: (event: ServerEvent) => void;
  /** Adds an item to the conversation and returns the ID of the one before it; undefined: the items stay outside. */
  addItem: ((item: ConversationItem) => string | null) | undefined;
}

interface ServiceOutput {
  item: McpItem;
  index: number;
  previousId: string | null;
}

export class ResponseOutput {
  readonly #options: ResponseOutputOptions;
  readonly items: ConversationItem[] = [];
  #message: MessageItem | undefined;
  #call: FunctionCallItem | undefined;
  #previousId: string | null = null;
  /** Items of MCP tools that have begun, by their IDs. */
  readonly #serviceItems = new Map<string, ServiceOutput>();

  constructor(options: ResponseOutputOptions) {
    this.#options = options;
  }

  beginMessage(modality: "audio" | "text"): void {
    const type = modality === "audio" ? "output_audio" : "output_text";
    const item: MessageItem = {
      id: newId("item_"),
      object: "realtime.item",
      type: "message",
      role: "assistant",
      status: "in_progress",
      content: [],
    };
    this.#message = item;
    this.#begin(item);
    item.content.push(type === "output_audio" ? { type, transcript: "" } : { type, text: "" });
    this.#sendPart("response.content_part.added", { part: toPart(item.content[0]) });
  }

  get message(): MessageItem | undefined {
    return this.#message;
  }

  appendText(delta: string): void {
    const content = this.#message?.content[0];
    if (content === undefined) return;
    if (content.type === "output_audio") {
      content.transcript += delta;
      this.#sendPart("response.output_audio_transcript.delta", { delta });
    } else if (content.type === "output_text") {
      content.text += delta;
      this.#sendPart("response.output_text.delta", { delta });
    }
  }

  appendAudio(delta: string): void {
    this.#sendPart("response.output_audio.delta", { delta });
  }

  endMessage(status: "completed" | "incomplete"): void {
    const content = this.#message?.content[0];
    if (this.#message === undefined || content === undefined) return;
    if (content.type === "output_audio") {
      this.#sendPart("response.output_audio.done", {});
      this.#sendPart("response.output_audio_transcript.done", { transcript: content.transcript });
    } else if (content.type === "output_text") {
      this.#sendPart("response.output_text.done", { text: content.text });
    }
    this.#sendPart("response.content_part.done", { part: toPart(content) });
    this.#end(this.#message, status);
    this.#message = undefined;
  }

  beginCall(call_id: string, name: string): void {
    this.#call = {
      id: newId("item_"),
      object: "realtime.item",
      type: "function_call",
      status: "in_progress",
      call_id,
      name,
      arguments: "",
    };
    this.#begin(this.#call);
  }

  appendArguments(delta: string): void {
    if (this.#call === undefined) return;
    this.#call.arguments += delta;
    this.#send("response.function_call_arguments.delta", this.#call, { call_id: this.#call.call_id, delta });
  }

  endCall(status: "completed" | "incomplete"): void {
    if (this.#call === undefined) return;
    const { call_id, name, arguments: text } = this.#call;
    this.#send("response.function_call_arguments.done", this.#call, { call_id, name, arguments: text });
    this.#end(this.#call, status);
    this.#call = undefined;
  }

  /** Adds an item of an MCP tool, reports its progress or ends it. */
  appendItemEvent(event: ItemEvent): void {
    if (event.type === "item-start") {
      const item = toMcpItem(event.item);
      this.#begin(item);
      this.#serviceItems.set(item.id, { item, index: this.items.length - 1, previousId: this.#previousId });
    } else if (event.type === "item-event") {
      const output = this.#serviceItems.get(event.id);
      if (output === undefined || !isRealtimeEvent(event.event)) return;
      const { responseId: response_id, send } = this.#options;
      send({ response_id, output_index: output.index, item_id: event.id, ...event.event });
    } else if (event.type === "item-stop") {
      const output = this.#serviceItems.get(event.item.id);
      this.#serviceItems.delete(event.item.id);
      if (output !== undefined) this.#endServiceItem(output, toMcpItem(event.item));
    }
  }

  /** Ends what has begun. */
  endAsIncomplete(): void {
    this.endMessage("incomplete");
    this.endCall("incomplete");
    for (const output of this.#serviceItems.values()) this.#endServiceItem(output, output.item);
    this.#serviceItems.clear();
  }

  #endServiceItem({ item, index: output_index, previousId }: ServiceOutput, complete: McpItem): void {
    const { addItem, responseId: response_id, send } = this.#options;
    // The conversation has this object.
    Object.assign(item, complete);
    send({ type: "response.output_item.done", response_id, output_index, item });
    if (addItem !== undefined) send({ type: "conversation.item.done", previous_item_id: previousId, item });
  }

  #begin(item: ConversationItem): void {
    const { addItem, send } = this.#options;
    this.items.push(item);
    this.#send("response.output_item.added", undefined, { item: structuredClone(item) });
    if (addItem === undefined) return;
    this.#previousId = addItem(item);
    send({ type: "conversation.item.added", previous_item_id: this.#previousId, item: structuredClone(item) });
  }

  #end(item: WrittenItem, status: "completed" | "incomplete"): void {
    const { addItem, send } = this.#options;
    item.status = status;
    this.#send("response.output_item.done", undefined, { item });
    if (addItem !== undefined) send({ type: "conversation.item.done", previous_item_id: this.#previousId, item });
  }

  #sendPart(type: string, fields: object): void {
    this.#send(type, this.#message, { content_index: 0, ...fields });
  }

  #send(type: string, item: ConversationItem | undefined, fields: object): void {
    const { responseId: response_id, send } = this.#options;
    const output_index = this.items.length - 1;
    send({ type, response_id, output_index, ...(item === undefined ? {} : { item_id: item.id }), ...fields });
  }
}

/** Renders the content as a part of a response, which has shorter names of types. */
function toPart(content: ItemContent | undefined): object {
  if (content?.type === "output_audio") return { type: "audio", transcript: content.transcript };
  return { type: "text", text: content?.type === "output_text" ? content.text : "" };
}
