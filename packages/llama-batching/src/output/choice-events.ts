/** Converts the output of one choice to events. */

import { newCallId } from "../call-id.ts";
import type { GenerationEvent, TokenLogprob } from "../types.ts";
import { OutputParser, type OutputPart, type OutputSyntax, type Phase, type Transition } from "./output-parser.ts";
import { StopSequences } from "./stop-sequences.ts";

export interface ChoiceEventsOptions {
  choice: number;
  syntax: OutputSyntax;
  stop: readonly string[];
  /** Returns the tokens generated so far, all choices together. */
  completionTokens: () => number;
  emit: (event: GenerationEvent) => void;
}

export class ChoiceEvents {
  readonly #options: ChoiceEventsOptions;
  readonly #parts: OutputParser;
  readonly #stops: StopSequences;
  #calls = 0;
  #isStopped = false;
  /** Tokens whose text was not emitted in full yet. */
  #logprobs: Array<{ endsAt: number; logprob: TokenLogprob }> = [];
  #read = 0;
  #emitted = 0;

  constructor(options: ChoiceEventsOptions) {
    this.#options = options;
    this.#parts = new OutputParser(options.syntax);
    this.#stops = new StopSequences(options.stop);
  }

  get phase(): Phase {
    return this.#parts.phase;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Whether nothing can follow what was pushed. */
  get isComplete(): boolean {
    return this.#parts.isComplete;
  }

  /** Whether a stop sequence ended the output. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The stop sequence that ended the output. */
  get stopText(): string | undefined {
    return this.#stops.found;
  }

  /** Processes text up to the next phase. `rest` is to be pushed again, unless those tokens are sampled again. */
  push(text: string, logprob?: TokenLogprob): Transition | undefined {
    const { parts, transition } = this.#parts.push(text);
    // The tag that ends the reasoning is not part of the content.
    const isContent = transition === undefined || transition.rest !== "";
    this.#emitParts(parts, isContent ? logprob : undefined);
    return transition;
  }

  /** Emits the text that was held back. */
  end(): void {
    this.#emitParts(this.#parts.end());
    if (this.#isStopped) return;
    this.#emitContent(this.#stops.end());
    // The tokens of a truncated character have no text.
    if (this.#logprobs.length > 0 && this.phase === "content") this.#emitText("");
  }

  #emitParts(parts: readonly OutputPart[], logprob?: TokenLogprob): void {
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    this.#read += text.length;
    if (logprob !== undefined && this.phase === "content") {
      // A token whose text is partly held back is reported once all of it was emitted.
      this.#logprobs.push({ endsAt: this.#read, logprob });
    }
    for (const part of parts) this.#emitPart(part);
  }

  #emitPart(part: OutputPart): void {
    if (this.#isStopped) return;
    const { choice, emit } = this.#options;
    const completionTokens = this.#options.completionTokens();
    switch (part.type) {
      case "reasoning":
        emit({ type: "reasoning", choice, text: part.text, completionTokens });
        break;
      case "text": {
        const { text, isStopped } = this.#stops.push(part.text);
        this.#emitContent(text);
        this.#isStopped = isStopped;
        break;
      }
      case "call": {
        this.#emitContent(this.#stops.end());
        const id = newCallId();
        emit({ type: "tool-call", choice, index: this.#calls, id, name: part.name, completionTokens });
        this.#calls += 1;
        break;
      }
      case "arguments":
        emit({ type: "tool-arguments", choice, index: this.#calls - 1, text: part.text, completionTokens });
    }
  }

  #emitContent(text: string): void {
    if (text === "") return;
    this.#emitted += text.length;
    this.#emitText(text);
  }

  #emitText(text: string): void {
    const count = this.#logprobs.findIndex(({ endsAt }) => endsAt > this.#emitted);
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
