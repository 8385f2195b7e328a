/** A chat answer as Anthropic's content blocks, one after the other. */

import type { FinishReason } from "../../engines/chat-model.ts";
import { type ChatAnswerEvents, typedEvents } from "../../engines/chat-proxy.ts";
import { Fault } from "../../faults.ts";
import type { TokenUsage } from "../../usage.ts";

export type NewBlock = { type: "text" } | { type: "thinking" } | { type: "tool_use"; id: string; name: string };

export type BlockEvent =
  | { type: "start"; promptTokens: number; cachedTokens: number }
  | { type: "block-start"; index: number; block: NewBlock }
  /** A piece of a text, of a thought, or of a call's input as JSON. */
  | { type: "block-delta"; index: number; block: NewBlock; text: string }
  | { type: "block-stop"; index: number }
  | { type: "end"; stopReason: string; stopSequence: string | null; usage: TokenUsage };

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

interface OpenBlock {
  index: number;
  block: NewBlock;
  /** Of the call, where it is one. */
  call: number | undefined;
}

/** The events of the only choice. Thinking is left out unless it is to be shown. */
export async function* toBlocks(answer: ChatAnswerEvents, showsThinking: boolean): AsyncGenerator<BlockEvent> {
  let open: OpenBlock | undefined;
  let count = 0;
  let stopReason = "end_turn";
  let stopSequence: string | null = null;
  function* begin(block: NewBlock, call?: number): Generator<BlockEvent> {
    if (open !== undefined) yield { type: "block-stop", index: open.index };
    open = { index: count, block, call };
    count += 1;
    yield { type: "block-start", index: open.index, block };
  }
  function* append(text: string): Generator<BlockEvent> {
    if (open !== undefined && text !== "") yield { type: "block-delta", index: open.index, block: open.block, text };
  }
  for await (const event of typedEvents(answer)) {
    switch (event.type) {
      case "start":
        yield event;
        break;
      case "text":
      case "reasoning": {
        const type = event.type === "text" ? "text" : "thinking";
        if (event.text === "" || (type === "thinking" && !showsThinking)) break;
        if (open?.block.type !== type) yield* begin({ type });
        yield* append(event.text);
        break;
      }
      case "tool-call":
        yield* begin({ type: "tool_use", id: event.id, name: event.name }, event.index);
        break;
      case "tool-arguments":
        if (open?.call !== event.index) throw new Fault("answer-unfit", "The model's calls of tools came interleaved.");
        yield* append(event.text);
        break;
      case "choice-end":
        if (open !== undefined) yield { type: "block-stop", index: open.index };
        open = undefined;
        stopReason = event.stopText === undefined ? STOP_REASONS[event.reason] : "stop_sequence";
        stopSequence = event.stopText ?? null;
        break;
      case "finish":
        yield { type: "end", stopReason, stopSequence, usage: event.usage };
    }
  }
}
