import type { LlamaModel } from "node-llama-cpp";
import { type Fault, unsupportedValue } from "../../faults.ts";
import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest } from "../chat-model.ts";
import { contextExceeded } from "../context-exceeded.ts";
import type { ModelHealth } from "../open-model.ts";
import { Answer } from "./answer.ts";
import { AnswerGrammars } from "./answer-grammars.ts";
import { AnswerPlanner } from "./answer-plan.ts";
import { BatchLoop } from "./batch-loop.ts";
import { ChatPrompt } from "./chat-prompt.ts";
import { ChatTemplate } from "./chat-template.ts";
import type { LoadedModel } from "./load-model.ts";
import { Logprobs } from "./logprobs.ts";
import { LEAST_REPEATABLE } from "./prefill-pace.ts";
import { SamplerMemory } from "./sampler-memory.ts";
import { samplingOf } from "./sampling.ts";
import { type Reuse, SequencePool } from "./sequence-pool.ts";
import { TokenBytes } from "./token-bytes.ts";
import { Decoder } from "./unpublished.ts";
import { Vocabulary } from "./vocabulary.ts";

export interface LlamaChatOptions extends LoadedModel {
  prefixReuse: boolean;
  maxChoices: number;
  /** Instead of the model's own. */
  chatTemplate: string | undefined;
  warn: (message: string) => void;
}

/** The chat model inside its own process. A crash or an end of that process is the host's affair. */
export class LlamaChat implements ChatModel {
  readonly task = "chat";
  readonly passesWire = false;
  readonly abilities: ChatAbilities;
  readonly slots: number;
  readonly device: string;
  readonly contextWindow: number;
  readonly #model: LlamaModel;
  readonly #prefixReuse: boolean;
  readonly #maxChoices: number;
  readonly #batchSize: number;
  readonly #vocabulary: Vocabulary;
  readonly #bytes: TokenBytes;
  readonly #decoder: Decoder;
  readonly #prompt: ChatPrompt;
  readonly #planner: AnswerPlanner;
  readonly #sequences: SequencePool;
  readonly #loop: BatchLoop;
  readonly #samplerMemory: SamplerMemory;

  /** Throws a Fault when the chat template cannot be read. */
  constructor({ model, context, device, threads, prefixReuse, maxChoices, chatTemplate, warn }: LlamaChatOptions) {
    const source = chatTemplate ?? model.fileInfo.metadata.tokenizer?.chat_template;
    if (source === undefined) warn("The model file has no chat template; ChatML is used, which it may not know");
    const { bosString, eosString } = model.tokens;
    const template = new ChatTemplate(source, { bos_token: bosString ?? "", eos_token: eosString ?? "" });
    this.slots = context.totalSequences;
    this.device = device;
    this.contextWindow = context.contextSize;
    this.#model = model;
    this.#prefixReuse = prefixReuse;
    this.#maxChoices = maxChoices;
    this.#batchSize = context.batchSize;
    this.#vocabulary = new Vocabulary(model);
    this.#bytes = new TokenBytes(model);
    this.#decoder = new Decoder(model, context);
    this.#prompt = new ChatPrompt(model, template, this.#vocabulary);
    this.#planner = new AnswerPlanner(template, this.#vocabulary, new AnswerGrammars(this.#decoder));
    this.#sequences = new SequencePool(context);
    this.#samplerMemory = new SamplerMemory(this.#vocabulary.size);
    this.#loop = new BatchLoop(context.batchSize, () => {
      model.llama.maxThreads = threads.current;
    });
    this.abilities = {
      tools: this.#planner.callsTools,
      jsonSchema: true,
      logprobs: true,
      vision: false,
      reasoning: this.#planner.thinks,
      choices: maxChoices,
    };
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    if (request.choices > this.#maxChoices) throw tooManyChoices(this.#maxChoices);
    const rendered = this.#prompt.render(this.#planner.said(request));
    const last = rendered.at(-1) ?? "";
    const plan = await this.#planner.plan(request, last);
    const bounds = { vocabularySize: this.#vocabulary.size, contextWindow: this.contextWindow, banned: plan.banned };
    const samplings = Array.from({ length: request.choices }, (_, choice) => samplingOf(request, choice, bounds));
    const prompt = await this.#prompt.toTokens([...rendered.slice(0, -1), last + plan.prefill]);
    const room = this.contextWindow - prompt.length;
    if (room < 1) throw contextExceeded(prompt.length, this.contextWindow);
    const reuse = this.#reuse(request);
    const taken = await this.#sequences.take(prompt, reuse, signal);
    if (taken === undefined) return;
    const answer = new Answer({
      model: this.#model,
      decoder: this.#decoder,
      prompt,
      plan,
      stop: request.stop,
      samplerMemory: this.#samplerMemory,
      maxTokens: Math.min(request.maxTokens ?? room, room),
      samplings,
      makeLogprobs: () => this.#logprobs(request),
      sequences: this.#sequences,
      reuse,
      loop: this.#loop,
      signal,
    });
    answer.run(taken);
    yield* answer.events.read();
  }

  #logprobs({ topLogprobs }: ChatRequest): Logprobs | undefined {
    if (topLogprobs === undefined) return undefined;
    return new Logprobs({ decoder: this.#decoder, model: this.#model, bytes: this.#bytes }, topLogprobs);
  }

  #reuse({ seed, temperature }: ChatRequest): Reuse {
    if (!this.#prefixReuse) return "nothing";
    if (seed === undefined && temperature > 0) return "everything";
    return this.#batchSize >= 2 * LEAST_REPEATABLE ? "repeatable" : "nothing";
  }
}

function tooManyChoices(most: number): Fault {
  return unsupportedValue(`n may be at most ${most} for this model.`, "n");
}
