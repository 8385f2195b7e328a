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
  { functions, annotate }: Pick<OpenTools, "functions" | "annotate">,
): AsyncGenerator<ResponsePart, Turn> {
  const turn: Turn = { text: "", reasoning: [], calls: [], hasCallerCalls: false, end: undefined };
  let current: WrittenCall | undefined;
  let text = "";
  for await (const event of toAnswerParts(answer, true, true)) {
    switch (event.type) {
      case "start":
        break;
      case "end":
        turn.end = event;
        break;
      case "part-start": {
        const { part } = event;
        text = "";
        if (part.type === "reasoning" && part.encrypted !== undefined) {
          turn.reasoning.push({ text: "", encrypted: part.encrypted });
        }
        const tool = part.type === "tool-call" ? functions.get(part.name) : undefined;
        if (part.type !== "tool-call" || tool === undefined) {
          turn.hasCallerCalls ||= part.type === "tool-call";
          current = undefined;
          yield event;
          break;
        }
        const call = tool.begin();
        const item = call.toItem("in_progress");
        current = { call, itemId: item.id, id: part.id, name: part.name, arguments: "" };
        turn.calls.push(current);
        yield { type: "item-start", item };
        yield* progress(item.id, call.begin());
        break;
      }
      case "part-delta":
        if (current === undefined) {
          if (event.part.type === "text") turn.text += event.text;
          text += event.text;
          yield event;
        } else {
          current.arguments += event.text;
          yield* progress(current.itemId, current.call.append(event.text));
        }
        break;
      case "part-signature":
        turn.reasoning.push({ text, signature: event.signature });
        yield event;
        break;
      case "part-stop":
        if (current !== undefined) break;
        if (event.part.type === "text") {
          const annotations = annotate(text);
          if (annotations.length > 0) yield { type: "annotations", annotations };
        }
        yield event;
    }
  }
  return turn;
}

function* progress(id: string, events: readonly { type: string }[]): Generator<ItemEvent> {
  for (const event of events) yield { type: "item-event", id, event };
}
