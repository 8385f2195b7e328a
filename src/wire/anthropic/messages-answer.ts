import type { FinishReason } from "../../contracts/chat-model.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import { newMessage, toEmptyBlock, toStop, toUsage } from "./messages-envelope.ts";
import type { MessagePart, MessagePartEvent } from "./messages-parts.ts";

/**
 * Folds the events into one message. Events without an end belong to an aborted request whose client has disconnected.
 */
export async function toMessage(
  events: AsyncIterable<MessagePartEvent>,
  answer: AnswerIdentity,
): Promise<Record<string, unknown>> {
  const blocks: { block: MessagePart; text: string; signature?: string; citations?: object[] }[] = [];
  let message: Record<string, unknown> = {};
  for await (const event of events) {
    if (event.type === "part-start") blocks.push({ block: event.part, text: "" });
    const current = blocks.at(-1);
    if (event.type === "part-delta" && current !== undefined) current.text += event.text;
    if (event.type === "part-signature" && current !== undefined) current.signature = event.signature;
    if (event.type === "part-citation" && current !== undefined) {
      current.citations = [...(current.citations ?? []), event.citation];
    }
    if (event.type !== "end") continue;
    message = {
      ...newMessage(answer),
      content: blocks.map(({ block, text, signature, citations = [] }) => ({
        ...toBlock(block, text, event.reason),
        // A list without entries where there are none: validators want the field, and the AI SDK refuses null.
        ...(isText(block) && { citations }),
        ...(signature !== undefined && { signature }),
      })),
      ...toStop(event),
      usage: toUsage(event.usage, event.serverToolUse),
    };
  }
  return message;
}

function isText({ type }: MessagePart): boolean {
  return type === "text" || type === "refusal";
}

function toBlock(block: MessagePart, text: string, reason: FinishReason): Record<string, unknown> {
  const empty = toEmptyBlock(block);
  if (isText(block)) return { ...empty, text };
  if (block.type === "reasoning") return block.encrypted === undefined ? { ...empty, thinking: text } : empty;
  if (block.type === "mcp-result" || block.type === "server-result") return empty;
  if (block.type === "server-use") return { ...empty, input: block.input };
  // Input that is not JSON is the result's error.
  if (block.type === "mcp-use") return { ...empty, input: parseObject(text) ?? {} };
  return { ...empty, input: readInput(text, reason) };
}

/** Parses a call's input; a call that `max_tokens` truncated has no valid JSON object. */
function readInput(text: string, reason: FinishReason): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (reason === "length" || reason === "content_filter") return {};
    throw new Fault("answer-unfit", "The model's input of a tool is not JSON.", { cause });
  }
}
