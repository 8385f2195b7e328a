/** One turn of a model: what the caller sees of it, and the calls that it writes. */

import type { ReasoningBlock } from "../../contracts/chat-message.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import { type PartEvent, toAnswerParts } from "../../wire/answer-parts.ts";
import type { ItemEvent, ResponsePart } from "../../wire/responses/item-events.ts";
import type { OpenTools } from "./service-tools.ts";
import type { WrittenCall } from "./tool-calls.ts";

type AnswerEnd = Extract<PartEvent, { type: "end" }>;

/** What a turn of the model came to. */
export interface Turn {
  text: string;
  /** What the provider recognizes in the next turn. */
  reasoning: ReasoningBlock[];
  calls: WrittenCall[];
  /** Whether it calls tools that the caller runs. */
  hasCallerCalls: boolean;
  end: AnswerEnd | undefined;
}

/** Yields the parts of a turn, and items in place of the calls of this service's tools. */
export async function* readTurn(
  answer: ChatAnswer,
  tools: Pick<OpenTools, "functions" | "annotate">,
): AsyncGenerator<ResponsePart, Turn> {
  const reader = new TurnReader(tools);
  for await (const event of toAnswerParts(answer, true, true)) yield* reader.read(event);
  return reader.turn;
}

class TurnReader {
  readonly turn: Turn = { text: "", reasoning: [], calls: [], hasCallerCalls: false, end: undefined };
  readonly #tools: Pick<OpenTools, "functions" | "annotate">;
  #call: WrittenCall | undefined;
  /** Text of the current part. */
  #text = "";

  constructor(tools: Pick<OpenTools, "functions" | "annotate">) {
    this.#tools = tools;
  }

  *read(event: PartEvent): Generator<ResponsePart> {
    switch (event.type) {
      case "start":
        return;
      case "end":
        this.turn.end = event;
        return;
      case "part-start":
        return yield* this.#start(event);
      case "part-delta":
        return yield* this.#append(event);
      case "part-signature":
        this.turn.reasoning.push({ text: this.#text, signature: event.signature });
        yield event;
        return;
      case "part-stop":
        if (this.#call === undefined) yield* this.#stop(event);
    }
  }

  *#start(event: Extract<PartEvent, { type: "part-start" }>): Generator<ResponsePart> {
    const { part } = event;
    this.#text = "";
    if (part.type === "reasoning" && part.encrypted !== undefined) {
      this.turn.reasoning.push({ text: "", encrypted: part.encrypted });
    }
    const tool = part.type === "tool-call" ? this.#tools.functions.get(part.name) : undefined;
    if (part.type !== "tool-call" || tool === undefined) {
      this.turn.hasCallerCalls ||= part.type === "tool-call";
      this.#call = undefined;
      yield event;
      return;
    }
    const call = tool.begin();
    const item = call.toItem("in_progress");
    this.#call = { call, itemId: item.id, id: part.id, name: part.name, arguments: "" };
    this.turn.calls.push(this.#call);
    yield { type: "item-start", item };
    yield* progress(item.id, call.begin());
  }

  *#append(event: Extract<PartEvent, { type: "part-delta" }>): Generator<ResponsePart> {
    if (this.#call !== undefined) {
      this.#call.arguments += event.text;
      yield* progress(this.#call.itemId, this.#call.call.append(event.text));
      return;
    }
    if (event.part.type === "text") this.turn.text += event.text;
    this.#text += event.text;
    yield event;
  }

  *#stop(event: Extract<PartEvent, { type: "part-stop" }>): Generator<ResponsePart> {
    const annotations = event.part.type === "text" ? this.#tools.annotate(this.#text) : [];
    if (annotations.length > 0) yield { type: "annotations", annotations };
    yield event;
  }
}

function* progress(id: string, events: readonly { type: string }[]): Generator<ItemEvent> {
  for (const event of events) yield { type: "item-event", id, event };
}
