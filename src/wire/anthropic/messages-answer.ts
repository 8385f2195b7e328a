import { Fault } from "../../faults.ts";
import type { BlockEvent, NewBlock } from "./messages-blocks.ts";
import { newMessage, toEmptyBlock, toUsage } from "./messages-envelope.ts";

/** Folds the events into one message. Events without an end were aborted: the client is gone. */
export async function toMessage(events: AsyncIterable<BlockEvent>, model: string): Promise<Record<string, unknown>> {
  const blocks: { block: NewBlock; text: string }[] = [];
  let message: Record<string, unknown> = {};
  for await (const event of events) {
    if (event.type === "block-start") blocks.push({ block: event.block, text: "" });
    const current = blocks.at(-1);
    if (event.type === "block-delta" && current !== undefined) current.text += event.text;
    if (event.type !== "end") continue;
    message = {
      ...newMessage(model),
      content: blocks.map(({ block, text }) => toBlock(block, text, event.stopReason)),
      stop_reason: event.stopReason,
      stop_sequence: event.stopSequence,
      usage: toUsage(event.usage),
    };
  }
  return message;
}

function toBlock(block: NewBlock, text: string, stopReason: string): Record<string, unknown> {
  const empty = toEmptyBlock(block);
  if (block.type === "text") return { ...empty, text };
  if (block.type === "thinking") return { ...empty, thinking: text };
  return { ...empty, input: readInput(text, stopReason) };
}

/** A call that `max_tokens` cut off has no input that is an object. */
function readInput(text: string, stopReason: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (stopReason === "max_tokens" || stopReason === "refusal") return {};
    throw new Fault("answer-unfit", "The model's input of a tool is not JSON.", { cause });
  }
}
