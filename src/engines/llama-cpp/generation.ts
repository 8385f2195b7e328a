/** One answer in the making: its prompt evaluated in slices, then token after token. */

import type { LlamaModel, SequenceEvaluateOptions, Token } from "node-llama-cpp";
import type { ChatEvent, FinishReason } from "../chat-model.ts";
import { EventBuffer } from "../host/event-buffer.ts";
import { AnswerText } from "./answer-text.ts";
import { LEAST_REPEATABLE } from "./prefill-pace.ts";
import type { SamplerMemory } from "./sampler-memory.ts";
import type { TakenSequence } from "./sequence-pool.ts";
import { StopTexts } from "./stop-texts.ts";

export interface GenerationOptions {
  model: LlamaModel;
  taken: TakenSequence;
  prompt: readonly Token[];
  sampling: SequenceEvaluateOptions;
  stop: readonly string[];
  samplerMemory: SamplerMemory;
  /** Most tokens to generate, at least 1: what the caller asked for, or what the context window leaves. */
  maxTokens: number;
}

export interface BatchShare {
  /** Of the prompt; 0 once all of it is evaluated. */
  promptTokens: number;
  /** Whether the batch holds nothing else. */
  isAlone: boolean;
}

type Tokens = ReturnType<TakenSequence["sequence"]["evaluateWithMetadata"]>;

export class Generation {
  readonly events: EventBuffer<ChatEvent> = new EventBuffer();
  readonly #options: GenerationOptions;
  readonly #text: AnswerText;
  readonly #stops: StopTexts;
  #evaluated: number;
  #repeatable: number;
  #generated = 0;
  #tokens: Tokens | undefined;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#evaluated = options.taken.reusedTokens;
    this.#repeatable = options.taken.repeatableTokens;
    this.#text = new AnswerText(options.model, options.prompt);
    this.#stops = new StopTexts(options.stop);
  }

  /** Prompt tokens that have to be evaluated before the first token comes. */
  get promptLeft(): number {
    return this.#options.prompt.length - this.#evaluated;
  }

  /** How much of the prompt, from its beginning, was evaluated as it would be for a request alone. */
  get repeatableTokens(): number {
    return this.#repeatable;
  }

  get isOver(): boolean {
    return this.events.hasEnded;
  }

  /** Makes the next token, or, while `promptLeft`, evaluates so many of the prompt's; the last of those make the first token. */
  async step({ promptTokens, isAlone }: BatchShare): Promise<void> {
    const { taken, prompt, sampling } = this.#options;
    if (this.#tokens === undefined) {
      const slice = prompt.slice(this.#evaluated, this.#evaluated + promptTokens);
      if (isAlone && slice.length >= LEAST_REPEATABLE && this.#repeatable === this.#evaluated) {
        this.#repeatable += slice.length;
      }
      this.#evaluated += slice.length;
      if (this.promptLeft > 0) {
        await taken.sequence.evaluateWithoutGeneratingNewTokens(slice, sampling);
        this.#options.samplerMemory.abandon();
        return;
      }
      this.#tokens = taken.sequence.evaluateWithMetadata(slice, {}, sampling);
    }
    const next = await this.#tokens.next();
    if (next.done) throw new Error("The binding ended the answer without an end token");
    this.#take(next.value.token);
  }

  /** Ends it where it stands, with a failure or because nobody wants it any more. */
  async end(failure?: Error): Promise<void> {
    this.events.end(failure);
    if (this.#tokens === undefined) return;
    await this.#tokens.return();
    this.#options.samplerMemory.abandon();
  }

  #take(token: Token): void {
    this.#generated += 1;
    if (this.#generated === 1) {
      const { prompt, taken } = this.#options;
      this.events.push({ type: "start", promptTokens: prompt.length, cachedTokens: taken.reusedTokens });
    }
    if (this.#options.model.isEogToken(token)) {
      this.#finish("stop");
    } else if (this.#say(this.#text.push(token))) {
      this.#finish("stop");
    } else if (this.#generated >= this.#options.maxTokens) {
      this.#finish("length");
    }
  }

  /** True when a stop text ends the answer. */
  #say(added: string): boolean {
    const { text, isOver } = this.#stops.push(added);
    if (text !== "") this.events.push({ type: "text", choice: 0, text, completionTokens: this.#generated });
    return isOver;
  }

  #finish(reason: FinishReason): void {
    const isStopped = this.#say(this.#text.end());
    const text = this.#stops.end();
    if (text !== "") this.events.push({ type: "text", choice: 0, text, completionTokens: this.#generated });
    const usage = {
      promptTokens: this.#options.prompt.length,
      completionTokens: this.#generated,
      cachedTokens: this.#options.taken.reusedTokens,
      estimated: false,
    };
    this.events.push({ type: "choice-end", choice: 0, reason: isStopped ? "stop" : reason });
    this.events.push({ type: "finish", usage });
    this.events.end();
  }
}
