/** Parts of an answer with calls of tools that this service runs, one after the other, as the blocks of one message. */

import type { AnswerPart, PartEvent } from "../answer-parts.ts";
import type { ItemEvent, ResponsePart, ServiceItem } from "../responses/item-events.ts";
import { type ServerResult, type ServerUse, toCitations, toServerBlocks } from "./messages-server-tools.ts";

/** A part of a message: the model's, or a call of an MCP tool and its result. */
export type MessagePart =
  | AnswerPart
  | { type: "mcp-use"; id: string; name: string; server: string }
  | { type: "mcp-result"; id: string; isError: boolean; text: string }
  | ServerUse
  | ServerResult;

type EndEvent = Extract<PartEvent, { type: "end" }>;

export type MessagePartEvent =
  | Exclude<PartEvent, { part: AnswerPart } | EndEvent>
  | (EndEvent & { serverToolUse?: Record<string, number> })
  | { type: "part-citation"; index: number; citation: object }
  | { type: "part-start" | "part-stop"; index: number; part: MessagePart }
  | { type: "part-delta"; index: number; part: MessagePart; text: string }
  | { type: "part-signature"; index: number; part: MessagePart; signature: string };

/** Numbers the parts of all turns. `showsReasoning`: whether the message has the model's thinking. */
export async function* toMessageParts(
  parts: AsyncIterable<ResponsePart>,
  showsReasoning: boolean,
): AsyncGenerator<MessagePartEvent> {
  const blocks = new Blocks();
  let callsCaller = false;
  for await (const event of parts) {
    switch (event.type) {
      case "start":
        yield event;
        break;
      case "part-start":
      case "part-delta":
      case "part-signature":
      case "part-stop":
        if (event.part.type === "reasoning" && !showsReasoning) break;
        callsCaller ||= event.part.type === "tool-call";
        yield* blocks.part(event);
        break;
      case "end": {
        yield* blocks.close();
        // The last turn may have called MCP tools only, when no more calls are allowed.
        const reason = event.reason === "tool_calls" && !callsCaller ? "stop" : event.reason;
        yield { ...event, reason, ...blocks.serverToolUse };
        break;
      }
      case "annotations":
        for (const citation of toCitations(event.annotations)) {
          yield { type: "part-citation", index: blocks.index, citation };
        }
        break;
      default:
        yield* blocks.item(event);
    }
  }
}

type PartOfModel = Extract<PartEvent, { part: AnswerPart }>;

class Blocks {
  #count = 0;
  #open: MessagePart | undefined;
  #searches = 0;

  get index(): number {
    return this.#count;
  }

  get serverToolUse(): { serverToolUse?: Record<string, number> } {
    if (this.#searches === 0) return {};
    return { serverToolUse: { web_search_requests: this.#searches, web_fetch_requests: 0 } };
  }

  *part(event: PartOfModel): Generator<MessagePartEvent> {
    if (event.type === "part-start") yield* this.#begin(event.part);
    else if (event.type === "part-stop") yield* this.close();
    else yield { ...event, index: this.#count };
  }

  *item(event: Exclude<ItemEvent, { type: "annotations" }>): Generator<MessagePartEvent> {
    if (event.type === "item-start" && event.item.type === "mcp_call") yield* this.#begin(toUse(event.item));
    if (event.type === "item-event" && event.event.type === "response.mcp_call_arguments.delta") {
      const part = this.#open as MessagePart;
      yield { type: "part-delta", index: this.#count, part, text: String(event.event.delta) };
    }
    // As at Anthropic, a search that failed or did not run is not counted.
    const ended = event.type === "item-stop" ? event.item : undefined;
    if (ended?.type === "web_search_call" && ended.status === "completed") this.#searches += 1;
    const blocks = event.type === "item-stop" ? toServerBlocks(event.item, event.text ?? "") : [];
    for (const block of blocks) {
      yield* this.#begin(block);
      if (block.type === "server-use") {
        yield { type: "part-delta", index: this.#count, part: block, text: JSON.stringify(block.input) };
      }
      yield* this.close();
    }
    if (event.type !== "item-stop" || event.item.type !== "mcp_call") return;
    yield* this.close();
    if (event.item.status === "incomplete") return;
    yield* this.#begin(toResult(event.item));
    yield* this.close();
  }

  *close(): Generator<MessagePartEvent> {
    if (this.#open === undefined) return;
    yield { type: "part-stop", index: this.#count, part: this.#open };
    this.#open = undefined;
    this.#count += 1;
  }

  *#begin(part: MessagePart): Generator<MessagePartEvent> {
    yield* this.close();
    this.#open = part;
    yield { type: "part-start", index: this.#count, part };
  }
}

function toUse(item: ServiceItem): MessagePart {
  return { type: "mcp-use", id: useId(item), name: String(item.name), server: String(item.server_label) };
}

function toResult(item: ServiceItem): MessagePart {
  const { output, error } = item;
  const text = typeof output === "string" ? output : textOfError(error);
  return { type: "mcp-result", id: useId(item), isError: error !== null, text };
}

function useId({ id }: ServiceItem): string {
  return `mcptoolu_${id.slice(id.indexOf("_") + 1)}`;
}

function textOfError(error: unknown): string {
  const { message, content } = (error ?? {}) as { message?: string; content?: { text?: string }[] };
  return message ?? (content ?? []).map(({ text = "" }) => text).join("\n");
}
