/** Reads what forwarded answers say, in the four formats that upstreams may answer in. */

import type { ContentPart } from "../contracts/chat-content.ts";
import type { ForwardedContent, ForwardedEvent } from "../contracts/chat-proxy.ts";
import { MessageParts } from "../contracts/message-parts.ts";
import { parseEvents } from "../kernel/server-sent-events.ts";

type Fields = Record<string, unknown>;

const list = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter((each): each is Fields => typeof each === "object" && each !== null) : [];
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const TEXT = (): ContentPart => ({ type: "text", content: "" });
const REASONING = (): ContentPart => ({ type: "reasoning", content: "" });
const REFUSAL = (): ContentPart => ({ type: "refusal", content: "" });
const CALL = (id: unknown, name: unknown): ContentPart => ({
  type: "tool_call",
  id: text(id),
  name: text(name),
  arguments: "",
});

/** Yields the JSON of every event of a stream, or of the complete answer. */
function* fieldsIn(events: readonly ForwardedEvent[]): Generator<Fields> {
  for (const event of events) {
    if (event.type === "frames") for (const { data } of parseEvents(event.frames)) yield JSON.parse(data) as Fields;
    else if (event.completion !== undefined) yield event.completion.fields;
  }
}

/** Reads chat completions and their chunks. */
export function chatContentOf(events: readonly ForwardedEvent[]): ForwardedContent {
  return readChoices(events, (parts, choice, each) => {
    const {
      content,
      reasoning_content,
      reasoning = reasoning_content,
      refusal,
      tool_calls,
    } = fieldsOf(each.delta ?? each.message);
    const append = (name: string, written: string, part: ContentPart) => {
      if (written !== "") parts.append(choice, name, written, part);
    };
    append("reasoning", text(reasoning), REASONING());
    append("text", textOf(content), TEXT());
    append("refusal", text(refusal), REFUSAL());
    for (const [place, call] of list(tool_calls).entries()) {
      const { name, arguments: input } = fieldsOf(call.function);
      const json = typeof input === "object" && input !== null ? JSON.stringify(input) : text(input);
      parts.append(choice, `call ${call.index ?? place}`, json, CALL(call.id, name));
    }
  });
}

/** Reads text completions and their chunks. */
export function completionContentOf(events: readonly ForwardedEvent[]): ForwardedContent {
  return readChoices(events, (parts, choice, each) => parts.append(choice, "text", text(each.text), TEXT()));
}

function readChoices(
  events: readonly ForwardedEvent[],
  read: (parts: MessageParts, choice: number, fields: Fields) => void,
): ForwardedContent {
  const parts = new MessageParts();
  let id: string | undefined;
  for (const fields of fieldsIn(events)) {
    if (typeof fields.id === "string") id = fields.id;
    for (const each of list(fields.choices)) {
      const choice = typeof each.index === "number" ? each.index : 0;
      read(parts, choice, each);
      if (typeof each.finish_reason === "string") parts.end(choice, each.finish_reason);
    }
  }
  return { id, messages: parts.messages() };
}

/** Reads Anthropic's messages and their events. */
export function messageContentOf(events: readonly ForwardedEvent[]): ForwardedContent {
  const parts = new MessageParts();
  let id: string | undefined;
  const readBlock = (index: number, block: Fields) => {
    const { type, id: call, name, input } = block;
    if (type === "text") parts.append(0, `${index}`, text(block.text), TEXT());
    if (type === "thinking") parts.append(0, `${index}`, text(block.thinking), REASONING());
    if (type !== "tool_use") return;
    const json = Object.keys(fieldsOf(input)).length === 0 ? "" : JSON.stringify(input);
    parts.append(0, `${index}`, json, CALL(call, name));
  };
  for (const { type, message, content_block, delta, index, ...fields } of fieldsIn(events)) {
    const place = typeof index === "number" ? index : 0;
    const { text: piece, thinking, partial_json, stop_reason = fields.stop_reason } = fieldsOf(delta);
    id ??= text(fields.id ?? fieldsOf(message).id) || undefined;
    if (content_block !== undefined) readBlock(place, fieldsOf(content_block));
    for (const [at, block] of list(fields.content).entries()) readBlock(at, block);
    const written = text(piece ?? thinking ?? partial_json);
    if (type === "content_block_delta" && written !== "") parts.append(0, `${place}`, written, TEXT());
    if (typeof stop_reason === "string") parts.end(0, stop_reason);
  }
  return { id, messages: parts.messages() };
}

/** Reads responses; a stream ends with the complete response. */
export function responseContentOf(events: readonly ForwardedEvent[]): ForwardedContent {
  const parts = new MessageParts();
  let id: string | undefined;
  for (const fields of fieldsIn(events.slice(-1))) {
    const response = fields.response === undefined ? fields : fieldsOf(fields.response);
    id = text(response.id) || undefined;
    for (const [index, item] of list(response.output).entries()) appendItem(parts, `${index}`, item);
    if (typeof response.status === "string") parts.end(0, response.status);
  }
  return { id, messages: parts.messages() };
}

function appendItem(parts: MessageParts, name: string, item: Fields): void {
  const { type, call_id, name: called, arguments: input, summary, content } = item;
  if (type === "function_call") parts.append(0, name, text(input), CALL(call_id, called));
  for (const each of list(summary)) parts.append(0, `${name} summary`, text(each.text), REASONING());
  for (const each of list(content)) {
    if (each.type === "refusal") parts.append(0, `${name} refusal`, text(each.refusal), REFUSAL());
    else parts.append(0, `${name} text`, text(each.text), TEXT());
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = list(content).map((part) => text(part.text));
  return texts.join("");
}
