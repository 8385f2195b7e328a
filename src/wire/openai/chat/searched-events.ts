/** The events of an answer with searches of this service, over all turns of the model. */

import type { ChatEvent } from "../../../contracts/chat-model.ts";
import type { AnswerPart, PartEvent } from "../../answer-parts.ts";
import type { Annotation, ResponsePart } from "../../responses/item-events.ts";

/** Citations, whose places count from the beginning of the choice's text. */
interface CitationEvent {
  type: "annotations";
  choice: number;
  annotations: readonly Annotation[];
}

export type RenderedEvent = ChatEvent | CitationEvent;

/** Joins the turns to one choice. Searches have no place in it but their citations. */
export async function* toSearchedEvents(parts: AsyncIterable<ResponsePart>): AsyncGenerator<RenderedEvent> {
  const choice = new SearchedChoice();
  for await (const event of parts) yield* choice.read(event);
}

/** Tokens count at the end of the answer. */
const common = { choice: 0, completionTokens: 0 };

class SearchedChoice {
  #callCount = 0;
  /** Length of the text before the current part, and with it. */
  #partStart = 0;
  #length = 0;

  *read(event: ResponsePart): Generator<RenderedEvent> {
    switch (event.type) {
      case "part-start":
        this.#partStart = this.#length;
        yield* this.#start(event.part);
        break;
      case "part-delta":
        yield this.#delta(event);
        break;
      case "part-signature":
        yield { type: "reasoning", ...common, text: "", signature: event.signature };
        break;
      case "annotations":
        yield { type: "annotations", choice: 0, annotations: event.annotations.map((each) => this.#moved(each)) };
        break;
      case "end": {
        // The last turn may have searched only, when no more searches are allowed.
        const reason = event.reason === "tool_calls" && this.#callCount === 0 ? "stop" : event.reason;
        yield { type: "choice-end", choice: 0, reason };
        yield { type: "finish", usage: event.usage };
      }
    }
  }

  *#start(part: AnswerPart): Generator<ChatEvent> {
    if (part.type === "tool-call") {
      const { id, name } = part;
      yield { type: "tool-call", ...common, index: this.#callCount, id, name };
      this.#callCount += 1;
    }
    if (part.type === "reasoning" && part.encrypted !== undefined) {
      yield { type: "reasoning", ...common, text: "", encrypted: part.encrypted };
    }
  }

  #delta({ part, text, logprobs }: Extract<PartEvent, { type: "part-delta" }>): ChatEvent {
    if (part.type === "tool-call") return { type: "tool-arguments", ...common, index: this.#callCount - 1, text };
    if (part.type === "reasoning") return { type: "reasoning", ...common, text };
    if (part.type === "refusal") return { type: "text", ...common, text, isRefusal: true };
    this.#length += text.length;
    return { type: "text", ...common, text, ...(logprobs.length > 0 && { logprobs }) };
  }

  #moved({ start_index, end_index, ...citation }: Annotation): Annotation {
    const by = this.#partStart;
    return { ...citation, start_index: Number(start_index) + by, end_index: Number(end_index) + by };
  }
}
