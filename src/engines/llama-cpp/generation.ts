/** One choice of an answer in the making: its prompt evaluated in slices, then token after token. */

import type { LlamaModel, Token } from "node-llama-cpp";
import type { ChatEvent, FinishReason, TokenLogprob } from "../chat-model.ts";
import type { AnswerPlan } from "./answer-plan.ts";
import { AnswerText } from "./answer-text.ts";
import { ChoiceEvents } from "./choice-events.ts";
import type { Logprobs } from "./logprobs.ts";
import { LEAST_REPEATABLE } from "./prefill-pace.ts";
import type { SamplerMemory } from "./sampler-memory.ts";
import type { TakenSequence } from "./sequence-pool.ts";
import type { Decoder, GrammarState, Sampler, SamplerConfig } from "./unpublished.ts";

export interface GenerationOptions {
  choice: number;
  model: LlamaModel;
  decoder: Decoder;
  taken: TakenSequence;
  prompt: readonly Token[];
  plan: AnswerPlan;
  sampling: SamplerConfig;
  stop: readonly string[];
  samplerMemory: SamplerMemory;
  /** Most tokens to generate, at least 1: what the caller asked for, or what the context window leaves. */
  maxTokens: number;
  /** Undefined: none were asked for. Disposed by the generation. */
  logprobs: Logprobs | undefined;
  /** Another choice of the same answer, which evaluates the same prompt. */
  donor: Generation | undefined;
  /** Counts of all choices together. */
  tally: Tally;
  emit: (event: ChatEvent) => void;
}

export interface Tally {
  completionTokens: number;
  reasoningTokens: number;
}

export interface BatchShare {
  /** Of the prompt; 0 once all of it is evaluated. */
  promptTokens: number;
  /** Whether the batch holds nothing else. */
  isAlone: boolean;
}

export class Generation {
  readonly #options: GenerationOptions;
  readonly #sampler: Sampler;
  readonly #text: AnswerText;
  readonly #events: ChoiceEvents;
  readonly #drawn: Token[] = [];
  #grammar: GrammarState | undefined;
  #evaluated: number;
  #repeatable: number;
  /** Drawn or put in, not evaluated yet. */
  #pending: Token[] = [];
  #isPrepared = false;
  #isOver = false;

  constructor(options: GenerationOptions) {
    const { choice, model, prompt, plan, stop, tally, emit } = options;
    this.#options = options;
    this.#evaluated = options.taken.reusedTokens;
    this.#repeatable = options.taken.repeatableTokens;
    this.#text = new AnswerText(model, prompt, plan.silent);
    const completionTokens = () => tally.completionTokens;
    this.#events = new ChoiceEvents({ choice, shape: plan.shape, stop, completionTokens, emit });
    this.#sampler = options.decoder.makeSampler(options.sampling);
    this.#constrain();
  }

  /** Prompt tokens that have to be evaluated before the first token comes. */
  get promptLeft(): number {
    return this.#options.prompt.length - this.#evaluated;
  }

  /** How much of the prompt, from its beginning, was evaluated as it would be for a request alone. */
  get repeatableTokens(): number {
    return this.#repeatable;
  }

  /** Whose prompt is worth waiting for; undefined once its state has been taken over. */
  get donor(): Generation | undefined {
    return this.#isPrepared ? undefined : this.#options.donor;
  }

  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Between batches. With a donor, whose prompt has been evaluated: takes that over, but for its last token. */
  async prepare(donor: Generation | undefined): Promise<void> {
    const { decoder, prompt, taken } = this.#options;
    this.#isPrepared = true;
    if (donor !== undefined && this.#evaluated < prompt.length - 1) {
      const shared = prompt.length - 1;
      if (await decoder.copyState(donor.#options.taken.sequence, taken.sequence, shared)) {
        this.#evaluated = shared;
        this.#repeatable = Math.min(donor.#repeatable, shared);
        return;
      }
      this.#evaluated = 0;
      this.#repeatable = 0;
    }
    await taken.sequence.eraseContextTokenRanges([{ start: this.#evaluated, end: taken.sequence.nextTokenIndex }]);
  }

  /** Makes the next token, or, while `promptLeft`, evaluates so many of the prompt's; the last of those make the first token. */
  async step({ promptTokens, isAlone }: BatchShare): Promise<void> {
    const { taken, prompt, decoder } = this.#options;
    if (this.promptLeft === 0) return await this.#draw(this.#pending.splice(0));
    const slice = prompt.slice(this.#evaluated, this.#evaluated + promptTokens);
    if (isAlone && slice.length >= LEAST_REPEATABLE && this.#repeatable === this.#evaluated) {
      this.#repeatable += slice.length;
    }
    this.#evaluated += slice.length;
    if (this.promptLeft > 0) await decoder.evaluate(taken.sequence, slice);
    else await this.#draw(slice);
  }

  /** Lets go of what it holds; once. */
  end(): void {
    this.#isOver = true;
    const { logprobs, samplerMemory } = this.#options;
    this.#sampler.dispose();
    logprobs?.dispose();
    samplerMemory.abandon(logprobs === undefined ? 1 : 3, this.#grammar?.bytes);
  }

  async #draw(tokens: readonly Token[]): Promise<void> {
    const { decoder, taken, logprobs } = this.#options;
    let logprob: TokenLogprob | undefined;
    const token = await decoder.evaluateAndDraw(taken.sequence, tokens, async (index) => {
      const drawn = await decoder.draw(index, this.#sampler);
      logprob = await logprobs?.of(index, drawn);
      return drawn;
    });
    this.#take(token, logprob);
  }

  #take(token: Token, logprob: TokenLogprob | undefined): void {
    const { model, plan, tally, prompt, taken, emit, choice, maxTokens } = this.#options;
    this.#drawn.push(token);
    tally.completionTokens += 1;
    if (this.#events.phase === "reasoning") tally.reasoningTokens += 1;
    if (this.#drawn.length === 1 && choice === 0) {
      emit({ type: "start", promptTokens: prompt.length, cachedTokens: taken.reusedTokens });
    }
    const isEnd = model.isEogToken(token);
    // A model that ends its answer while it thinks still owes what it is held to.
    const endsThoughts = isEnd && plan.isHeld && this.#events.phase === "reasoning";
    if (isEnd && !endsThoughts) {
      if (this.#grammar?.allows(token) === false) throw new Error("The answer ended before its grammar did");
      this.#finish("stop");
      return;
    }
    const text = endsThoughts ? (plan.shape.reasoning?.close ?? "") : this.#text.push(token);
    this.#pending = endsThoughts ? this.#tokensOf(text) : [token];
    this.#read(text, logprob);
    const isFull = taken.sequence.nextTokenIndex + this.#pending.length >= taken.sequence.contextSize;
    if (this.#events.isStopped) this.#finish("stop");
    else if (this.#drawn.length >= maxTokens || isFull) this.#finish("length");
  }

  #read(text: string, logprob: TokenLogprob | undefined): void {
    let entered = this.#events.push(text, logprob);
    while (entered !== undefined) {
      const { phase, rest } = entered;
      const before = this.#options.plan.afterThought;
      if (phase === "content" && before !== "") {
        // What the model would write between its thoughts and what it was asked for.
        this.#pending = this.#tokensOf(text.slice(0, text.length - rest.length) + before);
        entered = this.#events.push(before);
        if (entered === undefined) this.#constrain();
      } else if (this.#constrain()) {
        if (rest !== "") this.#pending = this.#tokensOf(text.slice(0, text.length - rest.length));
        return;
      } else {
        entered = rest === "" ? undefined : this.#events.push(rest);
      }
    }
  }

  /** Switches to the grammar of the present phase. True when it has one that was not in force. */
  #constrain(): boolean {
    const { plan } = this.#options;
    const grammar = this.#events.phase === "call" ? plan.callGrammar : plan.contentGrammar;
    if (grammar === undefined || this.#grammar !== undefined || this.#events.phase === "reasoning") return false;
    this.#grammar = grammar.clone();
    this.#sampler.constrain(this.#grammar, this.#drawn);
    return true;
  }

  #tokensOf(text: string): Token[] {
    return this.#options.model.tokenize(text, true, "trimLeadingSpace");
  }

  #finish(reason: FinishReason): void {
    const { emit, choice } = this.#options;
    this.#isOver = true;
    this.#read(this.#text.end(), undefined);
    this.#events.end();
    const { isStopped, calls } = this.#events;
    const ended = isStopped ? "stop" : reason;
    emit({ type: "choice-end", choice, reason: ended === "stop" && calls > 0 ? "tool_calls" : ended });
  }
}
