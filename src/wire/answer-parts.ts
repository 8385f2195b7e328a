/** Converts a chat answer to sequential parts, from which formats with content blocks or output items are rendered. */

import type { FinishReason, TokenLogprob } from "../engines/chat-model.ts";
import { type ChatAnswerEvents, typedEvents } from "../engines/chat-proxy.ts";
import { Fault } from "../faults.ts";
import type { TokenUsage } from "../usage.ts";

export type AnswerPart = { type: "text" } | { type: "reasoning" } | { type: "tool-call"; id: string; name: string };

export type PartEvent =
  | { type: "start"; promptTokens: number; cachedTokens: number }
  | { type: "part-start"; index: number; part: AnswerPart }
  /** A piece of a text, of the reasoning, or of a call's arguments as JSON. */
  | { type: "part-delta"; index: number; part: AnswerPart; text: string; logprobs: readonly TokenLogprob[] }
  | { type: "part-stop"; index: number; part: AnswerPart }
  | { type: "end"; reason: FinishReason; stopText: string | undefined; usage: TokenUsage };

interface OpenPart {
  index: number;
  part: AnswerPart;
  /** Index of the call; undefined for other parts. */
  call: number | undefined;
}

/** Yields the parts of the only choice. Throws a Fault for interleaved calls. */
export async function* toAnswerParts(answer: ChatAnswerEvents, showsReasoning: boolean): AsyncGenerator<PartEvent> {
  let open: OpenPart | undefined;
  let count = 0;
  let ended: { reason: FinishReason; stopText: string | undefined } = { reason: "stop", stopText: undefined };
  function* stop(): Generator<PartEvent> {
    if (open !== undefined) yield { type: "part-stop", index: open.index, part: open.part };
    open = undefined;
  }
  function* begin(part: AnswerPart, call?: number): Generator<PartEvent> {
    yield* stop();
    open = { index: count, part, call };
    count += 1;
    yield { type: "part-start", index: open.index, part };
  }
  function* append(text: string, logprobs: readonly TokenLogprob[] = []): Generator<PartEvent> {
    if (open !== undefined) yield { type: "part-delta", index: open.index, part: open.part, text, logprobs };
  }
  for await (const event of typedEvents(answer)) {
    switch (event.type) {
      case "start":
        yield event;
        break;
      case "text":
        if (event.text === "" && event.logprobs === undefined) break;
        if (open?.part.type !== "text") yield* begin({ type: "text" });
        yield* append(event.text, event.logprobs);
        break;
      case "reasoning":
        if (event.text === "" || !showsReasoning) break;
        if (open?.part.type !== "reasoning") yield* begin({ type: "reasoning" });
        yield* append(event.text);
        break;
      case "tool-call":
        yield* begin({ type: "tool-call", id: event.id, name: event.name }, event.index);
        break;
      case "tool-arguments":
        if (open?.call !== event.index) throw new Fault("answer-unfit", "The model's tool calls came interleaved.");
        if (event.text !== "") yield* append(event.text);
        break;
      case "choice-end":
        yield* stop();
        ended = { reason: event.reason, stopText: event.stopText };
        break;
      case "finish":
        yield { type: "end", ...ended, usage: event.usage };
    }
  }
}
