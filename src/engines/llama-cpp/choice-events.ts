/** Turns one choice's tokens into the events of an answer. */

import { randomBytes } from "node:crypto";
import type { ChatEvent, TokenLogprob } from "../chat-model.ts";
import { type AnswerPart, AnswerParts, type AnswerShape, type Phase } from "./answer-parts.ts";
import { StopTexts } from "./stop-texts.ts";
import { CALL_ID_LENGTH } from "./tool-call-format.ts";

export interface ChoiceEventsOptions {
  choice: number;
  shape: AnswerShape;
  stop: readonly string[];
  /** Tokens generated so far, all choices together. */
  completionTokens: () => number;
  emit: (event: ChatEvent) => void;
}

export class ChoiceEvents {
  readonly #options: ChoiceEventsOptions;
  readonly #parts: AnswerParts;
  readonly #stops: StopTexts;
  #calls = 0;
  #isStopped = false;
  /** Of tokens whose text has not been given out in full. */
  #logprobs: Array<{ endsAt: number; logprob: TokenLogprob }> = [];
  #read = 0;
  #given = 0;

  constructor(options: ChoiceEventsOptions) {
    this.#options = options;
    this.#parts = new AnswerParts(options.shape);
    this.#stops = new StopTexts(options.stop);
  }

  get phase(): Phase {
    return this.#parts.phase;
  }

  get calls(): number {
    return this.#calls;
  }

  /** A stop text ended the answer. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Reads on up to where another phase begins, and tells what of the text comes after that: to be pushed anew, or not if
   * it is to be drawn anew.
   */
  push(text: string, logprob?: TokenLogprob): { phase: Phase; rest: string } | undefined {
    const { parts, entered } = this.#parts.push(text);
    // The mark that ends the thoughts is no part of what follows it.
    const isContent = entered === undefined || entered.rest !== "";
    this.#say(parts, isContent ? logprob : undefined);
    return entered;
  }

  /** Gives out what was kept back. */
  end(): void {
    this.#say(this.#parts.end());
    if (this.#isStopped) return;
    this.#giveText(this.#stops.end());
    // Of a character that was cut off, there is no text.
    if (this.#logprobs.length > 0 && this.phase === "content") this.#emitText("");
  }

  #say(parts: readonly AnswerPart[], logprob?: TokenLogprob): void {
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    this.#read += text.length;
    if (logprob !== undefined && this.phase === "content") {
      // Of a token whose text is kept back, all is given out with what follows.
      this.#logprobs.push({ endsAt: this.#read, logprob });
    }
    for (const part of parts) this.#sayPart(part);
  }

  #sayPart(part: AnswerPart): void {
    if (this.#isStopped) return;
    const { choice, emit } = this.#options;
    const completionTokens = this.#options.completionTokens();
    switch (part.type) {
      case "reasoning":
        emit({ type: "reasoning", choice, text: part.text, completionTokens });
        break;
      case "text": {
        const { text, isOver } = this.#stops.push(part.text);
        this.#giveText(text);
        this.#isStopped = isOver;
        break;
      }
      case "call": {
        this.#giveText(this.#stops.end());
        const id = newCallId();
        emit({ type: "tool-call", choice, index: this.#calls, id, name: part.name, completionTokens });
        this.#calls += 1;
        break;
      }
      case "arguments":
        emit({ type: "tool-arguments", choice, index: this.#calls - 1, text: part.text, completionTokens });
    }
  }

  #giveText(text: string): void {
    if (text === "") return;
    this.#given += text.length;
    this.#emitText(text);
  }

  #emitText(text: string): void {
    const count = this.#logprobs.findIndex(({ endsAt }) => endsAt > this.#given);
    const complete = this.#logprobs.splice(0, count === -1 ? this.#logprobs.length : count);
    this.#options.emit({
      type: "text",
      choice: this.#options.choice,
      text,
      completionTokens: this.#options.completionTokens(),
      ...(complete.length === 0 ? {} : { logprobs: complete.map(({ logprob }) => logprob) }),
    });
  }
}

/** Letters and digits only, and as many as the strictest chat templates want. */
function newCallId(): string {
  return randomBytes(2 * CALL_ID_LENGTH)
    .toString("base64")
    .replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, CALL_ID_LENGTH);
}
