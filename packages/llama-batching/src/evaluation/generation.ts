/** Generates one choice: evaluates the prompt in slices, then samples token after token. */

import type { Token } from "node-llama-cpp";
import { memoryShort } from "../errors.ts";
import { ChoiceEvents } from "../output/choice-events.ts";
import { StreamingDetokenizer } from "../output/streaming-detokenizer.ts";
import type { GrammarState } from "../sampling/grammar-state.ts";
import type { Sampler } from "../sampling/sampler.ts";
import type { FinishReason, TokenLogprob } from "../types.ts";
import { AnswerReplay } from "./answer-replay.ts";
import type { LogitsIndex } from "./batch-evaluator.ts";
import type { BatchShare, ChoiceOptions } from "./generation-options.ts";
import type { Padding } from "./native-decoder.ts";
import { MIN_REPEATABLE_TOKENS } from "./prefill-scheduler.ts";
import { MAX_ECHOED_SLICE, PromptEcho } from "./prompt-echo.ts";

const EXPECTED_ANSWER_TOKENS = 256;
const PADDING_TOKENS = 2;

export interface GenerationOptions extends ChoiceOptions {
  /** Another choice of the same request, whose evaluated prompt is copied. */
  prefixSource: Generation | undefined;
}

export class Generation {
  readonly #options: GenerationOptions;
  readonly #sampler: Sampler;
  readonly #text: StreamingDetokenizer;
  readonly #events: ChoiceEvents;
  readonly #sampled: Token[] = [];
  #grammar: GrammarState | undefined;
  #evaluated: number;
  #repeatable: number;
  readonly #echo: PromptEcho | undefined;
  /** Sampled or inserted, not evaluated yet. */
  #pending: Token[] = [];
  /** What a text that must be the same is evaluated from again. */
  readonly #replay: AnswerReplay | undefined;
  #isPrepared = false;
  #isOver = false;

  constructor(options: GenerationOptions) {
    const { choice, model, prompt, plan, stop, tokenCounts, emit, echo } = options;
    this.#options = options;
    this.#evaluated = options.acquired.reusedTokens;
    this.#repeatable = options.acquired.repeatableTokens;
    this.#echo = echo === undefined || choice > 0 ? undefined : new PromptEcho(options, echo);
    this.#replay = options.repeatable && new AnswerReplay();
    this.#text = new StreamingDetokenizer(model, prompt, plan.hiddenTokens);
    const completionTokens = () => tokenCounts.completionTokens;
    this.#events = new ChoiceEvents({ choice, syntax: plan.syntax, stop, completionTokens, emit });
    this.#sampler = options.decoder.createSampler(options.sampling, options.minTokens > 0 ? options.endTokens : []);
    this.#constrain();
  }

  /** Prompt tokens still to be evaluated. */
  get promptLeft(): number {
    return this.#options.prompt.length - this.#evaluated;
  }

  /** Prompt tokens that the next batch may evaluate. */
  get maxSlice(): number {
    const remaining = this.promptLeft;
    if (this.#echo?.readsLogprobs === true) return Math.min(remaining, MAX_ECHOED_SLICE);
    const { repeatable, choice, beginning } = this.#options;
    if (beginning !== undefined && this.#evaluated < beginning.tokens) return beginning.tokens - this.#evaluated;
    return repeatable?.maxSlice(remaining, choice) ?? remaining;
  }

  /** Tokens of the next batch, if the prompt is evaluated. */
  get pendingTokens(): number {
    return this.#replay?.isPending === true ? this.#replay.pendingTokens : this.#pending.length;
  }

  /** Whether the next slice of the prompt must not share its batch. */
  get evaluatesApart(): boolean {
    return this.#options.repeatable !== undefined && this.maxSlice >= MIN_REPEATABLE_TOKENS;
  }

  /** Whether the last of the next `tokens` rounds differently when llama.cpp evaluates it alone. */
  dependsOnNeighbors(tokens: number): boolean {
    const { repeatable, acquired } = this.#options;
    return repeatable?.dependsOnNeighbors(acquired.sequence, tokens) ?? false;
  }

  /** Whether the sequence can hold a padding token in addition to `tokens`. */
  hasRoomForPadding(tokens: number): boolean {
    const { nextTokenIndex, contextSize } = this.#options.acquired.sequence;
    return nextTokenIndex + tokens + 1 < contextSize;
  }

  /** Tokens that its sequence must have room for before the next batch. */
  get requiredTokens(): number {
    const { acquired, prompt, contextWindow } = this.#options;
    const next = this.promptLeft > 0 ? prompt.length : acquired.sequence.nextTokenIndex + this.pendingTokens;
    return Math.min(next + PADDING_TOKENS, contextWindow);
  }

  /** The same, with an answer of a usual length if it has not begun: the context grows once for both. */
  get expectedTokens(): number {
    const { maxTokens, contextWindow } = this.#options;
    const answer = this.promptLeft > 0 ? Math.min(maxTokens, EXPECTED_ANSWER_TOKENS) : 0;
    return Math.min(this.requiredTokens + answer, contextWindow);
  }

  /** Ends a generation for which memory is short: an answer that has begun as at the end of the window. */
  endForMemory(): Error | undefined {
    if (this.#sampled.length === 0) return memoryShort();
    this.#finish("length");
    return undefined;
  }

  /** Length of the prompt's prefix that was evaluated as it would be for a request alone. */
  get repeatableTokens(): number {
    return this.#repeatable;
  }

  /** llama.cpp's ID of its sequence. */
  get sequenceId(): number {
    return this.#options.acquired.id;
  }

  /** Generation whose prompt is worth waiting for; undefined once its state was copied. */
  get prefixSource(): Generation | undefined {
    return this.#isPrepared ? undefined : this.#options.prefixSource;
  }

  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs between batches. Copies the evaluated prompt of `source`, except for its last token. */
  async prepare(source: Generation | undefined): Promise<void> {
    const { decoder, prompt, acquired } = this.#options;
    this.#isPrepared = true;
    if (source !== undefined && this.#evaluated < prompt.length - 1) {
      const shared = prompt.length - 1;
      if (await decoder.copyState(source.#options.acquired.sequence, acquired.sequence, shared)) {
        this.#evaluated = shared;
        this.#repeatable = Math.min(source.#repeatable, shared);
        return;
      }
      this.#evaluated = 0;
      this.#repeatable = 0;
    }
    await acquired.sequence.eraseContextTokenRanges([
      { start: this.#evaluated, end: acquired.sequence.nextTokenIndex },
    ]);
  }

  /**
   * Evaluates everything again if `isRestoredExactly` does not hold for what is evaluated and the text must be the same.
   * Runs between batches.
   */
  async evaluateAgain(isRestoredExactly: (tokens: number) => boolean): Promise<void> {
    const { sequence } = this.#options.acquired;
    if (this.#replay === undefined || isRestoredExactly(sequence.nextTokenIndex)) return;
    await sequence.clearHistory();
    this.#evaluated = 0;
    this.#repeatable = 0;
    this.#replay.restart();
  }

  /** Samples the next token, or evaluates `promptTokens` of the prompt; the last slice samples the first token. */
  async step({ promptTokens, isAlone, padding }: BatchShare): Promise<void> {
    const { acquired, prompt, decoder, beginning } = this.#options;
    if (this.promptLeft === 0) return await this.#stepAnswer(padding);
    const slice = prompt.slice(this.#evaluated, this.#evaluated + promptTokens);
    if (isAlone && slice.length >= MIN_REPEATABLE_TOKENS && this.#repeatable === this.#evaluated) {
      this.#repeatable += slice.length;
    }
    const position = this.#evaluated;
    this.#evaluated += slice.length;
    const isAgain = this.#sampled.length > 0;
    if (this.#echo?.readsLogprobs === true && !isAgain) {
      const sampled = await this.#echo.evaluate(slice, position, this.#sampler);
      if (sampled !== undefined) this.#accept(sampled.token, sampled.logprob);
    } else if (this.promptLeft > 0 || isAgain) await decoder.evaluate(acquired.sequence, slice, padding);
    else await this.#sample(slice, padding);
    if (this.#evaluated === beginning?.tokens) beginning.onEvaluated();
  }

  /** Releases its samplers. Call once. */
  end(): void {
    this.#isOver = true;
    const { logprobs, samplerMemory } = this.#options;
    this.#sampler.dispose();
    logprobs?.dispose();
    samplerMemory.release(logprobs === undefined ? 1 : 3, this.#grammar?.bytes);
  }

  async #stepAnswer(padding: Padding): Promise<void> {
    const { acquired, decoder } = this.#options;
    if (this.#replay?.isPending === true) {
      return await decoder.evaluate(acquired.sequence, this.#replay.next(), padding);
    }
    const tokens = this.#pending.splice(0);
    this.#replay?.record(tokens);
    await this.#sample(tokens, padding);
  }

  #begin(): void {
    const { prompt, acquired, emit, choice } = this.#options;
    if (choice > 0) return;
    emit({ type: "start", promptTokens: prompt.length, cachedTokens: acquired.reusedTokens });
    if (this.#echo !== undefined) emit(this.#echo.event(choice));
  }

  async #sample(tokens: readonly Token[], padding: Padding): Promise<void> {
    const { decoder, acquired, logprobs } = this.#options;
    let logprob: TokenLogprob | undefined;
    const read = async (index: LogitsIndex) => {
      const sampled = await decoder.sample(index, this.#sampler);
      logprob = await logprobs?.of(index, sampled);
      return sampled;
    };
    const token = await decoder.evaluateAndSample(acquired.sequence, tokens, read, padding);
    this.#accept(token, logprob);
  }

  #accept(token: Token, logprob: TokenLogprob | undefined): void {
    const { endTokens, plan, tokenCounts, acquired, minTokens, maxTokens, contextWindow } = this.#options;
    if (this.#sampled.length === 0) this.#begin();
    if (maxTokens === 0) {
      this.#finish("length");
      return;
    }
    this.#sampled.push(token);
    if (this.#sampled.length === minTokens && this.#grammar === undefined) this.#sampler.liftBan(this.#sampled);
    const isReasoning = this.#events.phase === "reasoning";
    tokenCounts.completionTokens += 1;
    tokenCounts.reasoningTokens += isReasoning ? 1 : 0;
    const isEnd = endTokens.includes(token);
    // A model that ends its answer while it reasons still owes the constrained output.
    const endsReasoning = isEnd && plan.isConstrained && isReasoning;
    if (isEnd && !endsReasoning) {
      this.#acceptEnd(token);
      return;
    }
    const text = endsReasoning ? (plan.syntax.reasoning?.close ?? "") : this.#text.push(token);
    this.#pending = endsReasoning ? this.#tokenize(text) : [token];
    this.#read(text, logprob);
    const isFull = acquired.sequence.nextTokenIndex + this.#pending.length >= contextWindow;
    if (this.#events.isStopped || this.#events.isComplete) this.#finish("stop");
    else if (this.#sampled.length >= maxTokens || isFull) this.#finish("length");
  }

  #acceptEnd(token: Token): void {
    if (this.#grammar?.allows(token) === false) {
      throw new Error("The model sampled an end token that the grammar does not allow");
    }
    this.#finish("stop");
  }

  #read(text: string, logprob: TokenLogprob | undefined): void {
    const before = this.#options.plan.afterReasoning;
    const replace = (rest: string, inserted: string) => {
      this.#pending = this.#tokenize(text.slice(0, text.length - rest.length) + inserted);
    };
    let transition = this.#events.push(text, logprob);
    while (transition !== undefined) {
      const { phase, rest, callBeginning } = transition;
      if (phase === "content" && before !== "") {
        // The text that the model was trained to write between its reasoning and the constrained output.
        replace(rest, before);
        transition = this.#events.push(before);
        if (transition === undefined) this.#constrain();
        continue;
      }
      const isConstrained = this.#constrain(callBeginning);
      if (isConstrained && rest !== "") replace(rest, "");
      transition = isConstrained || rest === "" ? undefined : this.#events.push(rest);
    }
  }

  /**
   * Activates the grammar of the current phase, advanced by the beginning of a call that was written in another form.
   * Returns true when a grammar was newly activated.
   */
  #constrain(callBeginning = ""): boolean {
    const { plan } = this.#options;
    const grammar = this.#events.phase === "call" ? plan.callGrammar : plan.contentGrammar;
    if (grammar === undefined || this.#grammar !== undefined || this.#events.phase === "reasoning") return false;
    this.#grammar = grammar.clone();
    for (const token of this.#tokenize(callBeginning)) this.#grammar.accept(token);
    this.#sampler.constrain(this.#grammar, this.#sampled);
    return true;
  }

  #tokenize(text: string): Token[] {
    return this.#options.model.tokenize(text, true, "trimLeadingSpace");
  }

  #finish(reason: FinishReason): void {
    const { emit, choice } = this.#options;
    this.#isOver = true;
    this.#read(this.#text.end(), undefined);
    this.#events.end();
    const { isStopped, stopText, calls } = this.#events;
    const ended = isStopped ? "stop" : reason;
    emit({
      type: "choice-end",
      choice,
      reason: ended === "stop" && calls > 0 ? "tool_calls" : ended,
      ...(stopText === undefined ? {} : { stopText }),
    });
  }
}
