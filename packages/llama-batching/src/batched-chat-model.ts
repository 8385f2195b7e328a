import type { LlamaModel, Token } from "node-llama-cpp";
import { Completion } from "./completion.ts";
import { type DecodingPlan, DecodingPlanner } from "./decoding-plan.ts";
import { RequestError } from "./errors.ts";
import { ContinuousBatcher } from "./evaluation/continuous-batcher.ts";
import type { StoredBeginning } from "./evaluation/generation-options.ts";
import { GrowingContext } from "./evaluation/growing-context.ts";
import { NativeDecoder } from "./evaluation/native-decoder.ts";
import { CPU_PACE, GPU_PACE } from "./evaluation/prefill-scheduler.ts";
import { MIN_STORED_TOKENS, PromptCache } from "./evaluation/prompt-cache.ts";
import { allowsTiles, RepeatableEvaluation } from "./evaluation/repeatable-evaluation.ts";
import { type AcquiredSequence, type PrefixReuse, SequencePool } from "./evaluation/sequence-pool.ts";
import type { StoredStates } from "./evaluation/stored-states.ts";
import type { LoadedModel } from "./load-model.ts";
import type { Echo } from "./output/echo.ts";
import { ChatTemplate } from "./prompts/chat-template.ts";
import { PromptBuilder, type PromptPieces } from "./prompts/prompt-builder.ts";
import { RawPrompts } from "./prompts/raw-prompts.ts";
import { GrammarCache } from "./sampling/grammar-cache.ts";
import { LogprobReader } from "./sampling/logprob-reader.ts";
import { SamplerMemory } from "./sampling/sampler-memory.ts";
import { toSamplerOptions } from "./sampling/sampler-options.ts";
import { readSamplingDefaults, type SamplingDefaults } from "./sampling/sampling-defaults.ts";
import { TokenBytes } from "./token-bytes.ts";
import type { GenerationEvent, GenerationRequest, RawPrompt } from "./types.ts";
import { Vocabulary } from "./vocabulary.ts";

export interface BatchedChatModelOptions extends LoadedModel {
  /** Whether a prompt may start with what an earlier request left evaluated in its slot. */
  prefixReuse: boolean;
  /** Limit of `GenerationRequest.choices`. */
  maxChoices: number;
  /** Jinja template used instead of the one in the model file. */
  chatTemplate: string | undefined;
  /** Where evaluated system prompts are kept; undefined: nowhere. */
  storedStates?: StoredStates | undefined;
  warn: (message: string) => void;
}

export interface RunOptions {
  /** Called for each event, in order. */
  emit: (event: GenerationEvent) => void;
  signal: AbortSignal;
}

/** A character for private use, with which no message begins. */
const OTHER_MESSAGE = "\uE000";

/** Decodes concurrent chat requests together, one batch for each step. */
export class BatchedChatModel {
  /** Requests decoded together; more wait. */
  readonly slots: number;
  /** `cpu`, `cuda`, `vulkan` or `metal`. */
  readonly device: string;
  /** Tokens of prompt and answer together, for each slot. */
  readonly contextWindow: number;
  readonly contextReason: LoadedModel["contextReason"];
  /** Parameters that the model's file recommends. */
  readonly samplingDefaults: SamplingDefaults;
  readonly #model: LlamaModel;
  readonly #prefixReuse: boolean;
  readonly #maxChoices: number;
  readonly #batchSize: number;
  readonly #splitsKeys: boolean;
  readonly #vocabulary: Vocabulary;
  readonly #bytes: TokenBytes;
  readonly #decoder: NativeDecoder;
  readonly #prompts: PromptBuilder;
  readonly #rawPrompts: RawPrompts;
  readonly #planner: DecodingPlanner;
  readonly #sequences: SequencePool;
  readonly #batcher: ContinuousBatcher;
  readonly #samplerMemory: SamplerMemory;
  readonly #promptCache: PromptCache | undefined;

  /** Throws a ModelError when the chat template does not parse. */
  constructor(options: BatchedChatModelOptions) {
    const { model, context, device, threads, prefixReuse, maxChoices, chatTemplate, warn } = options;
    const source = chatTemplate ?? model.fileInfo.metadata.tokenizer?.chat_template;
    if (source === undefined) {
      warn("The model file has no chat template. ChatML is used, which the model may not have been trained on.");
    }
    const { bosString, eosString } = model.tokens;
    const template = new ChatTemplate(source, { bos_token: bosString ?? "", eos_token: eosString ?? "" });
    this.slots = context.totalSequences;
    this.device = device;
    this.contextReason = options.contextReason;
    this.samplingDefaults = readSamplingDefaults(model.fileInfo.metadata);
    this.#model = model;
    this.#prefixReuse = prefixReuse;
    this.#maxChoices = maxChoices;
    this.#batchSize = options.batchSize;
    this.#splitsKeys = options.splitsKeys;
    this.#vocabulary = new Vocabulary(model);
    this.#bytes = new TokenBytes(model);
    this.#decoder = new NativeDecoder(model, context);
    this.#prompts = new PromptBuilder(model, template, this.#vocabulary);
    this.#rawPrompts = new RawPrompts(model, this.#vocabulary);
    this.#planner = new DecodingPlanner(template, this.#vocabulary, new GrammarCache(this.#decoder));
    this.#sequences = new SequencePool(context);
    const growing = new GrowingContext(context, this.#sequences.sequences, options.growth);
    this.contextWindow = growing.window;
    this.#samplerMemory = new SamplerMemory(this.#vocabulary.size);
    this.#batcher = new ContinuousBatcher({
      batchSize: options.batchSize,
      pace: device === "cpu" ? CPU_PACE : GPU_PACE,
      threads: {
        get current() {
          return threads.current;
        },
        use: (count) => {
          this.#decoder.setThreads(count);
        },
      },
      decoder: this.#decoder,
      context: growing,
    });
    if (options.storedStates !== undefined && this.#sequences.sequences[0]?.needsCheckpoints === true) {
      warn("Evaluated prompts are not stored: only all of a state of this model can be used again.");
    }
    this.#promptCache = options.storedStates && new PromptCache(options.storedStates, this.#batcher, growing);
  }

  /** More messages than this never fit the context window. */
  get maxMessages(): number {
    return this.#prompts.bounds.maxMessages(this.contextWindow);
  }

  /** Whether the model reasons before it answers. */
  get reasons(): boolean {
    return this.#planner.reasons;
  }

  /** Counts the tokens of the prompt, also of one beyond the context window. Throws a RequestError. */
  async countTokens(request: GenerationRequest, signal: AbortSignal): Promise<number> {
    const { prompt, prefill = "" } = request;
    const pieces =
      prompt === undefined
        ? [...(await this.#prompts.render(this.#planner.promptInput(request))), ...this.#prompts.pieces(prefill)]
        : this.#rawPrompts.pieces(prompt);
    return (await this.#prompts.tokenize(pieces, Number.POSITIVE_INFINITY, signal)).tokens.length;
  }

  /**
   * Emits the events of one request and resolves after `finish`, or early and without it once `signal` aborts. Throws a
   * RequestError before the first event, a ModelError at any time.
   */
  async run(request: GenerationRequest, { emit, signal }: RunOptions): Promise<void> {
    if (request.choices > this.#maxChoices) {
      throw new RequestError(`n may be at most ${this.#maxChoices} for this model.`, "n", "unsupported_value");
    }
    const { contextWindow } = this;
    const { pieces, plan } = await this.#read(request);
    const limits = { vocabularySize: this.#vocabulary.size, contextWindow, bannedTokens: plan.bannedTokens };
    const samplings = Array.from({ length: request.choices }, (_, choice) => toSamplerOptions(request, choice, limits));
    const { tokens: prompt, ...tokenized } = await this.#prompts.tokenize(pieces, contextWindow, signal);
    if (signal.aborted) return;
    if (tokenized.minTokens >= contextWindow) {
      throw contextExceeded(`${tokenized.isComplete ? "" : "at least "}${tokenized.minTokens}`, contextWindow, request);
    }
    if (prompt.length === 0) throw new RequestError("The prompt has no tokens.", "prompt", "invalid_value");
    const room = contextWindow - prompt.length;
    const echo = request.prompt?.echo === true ? this.#echoOf(request.prompt, prompt) : undefined;
    // Logits of reused tokens are not kept.
    const reuse = echo !== undefined && request.topLogprobs !== undefined ? "none" : this.#reuseFor(request);
    const free = await this.#sequences.acquire(prompt, reuse, signal);
    if (free === undefined) return;
    const { acquired, beginning } = await this.#withStoredState(request, prompt, free, { reuse, signal });
    const completion = new Completion({
      model: this.#model,
      decoder: this.#decoder,
      prompt,
      plan,
      stop: request.stop,
      samplerMemory: this.#samplerMemory,
      minTokens: request.minTokens ?? 0,
      endTokens: this.#vocabulary.endTokens,
      maxTokens: Math.min(request.maxTokens ?? room, room),
      contextWindow,
      echo,
      beginning,
      samplings,
      createLogprobReader: () => this.#createLogprobReader(request),
      sequences: this.#sequences,
      reuse,
      repeatable: this.#isRepeatable(request) ? this.#repeatableEvaluation(prompt.length) : undefined,
      batcher: this.#batcher,
      emit,
      signal,
    });
    await completion.run(acquired);
  }

  /** Resolves once all evaluated prompts are stored that are to be. */
  async settled(): Promise<void> {
    await this.#promptCache?.settled();
  }

  /** Whether a `RawPrompt` may have a suffix. */
  get fillsInTheMiddle(): boolean {
    return this.#rawPrompts.fillsInTheMiddle;
  }

  async #read(request: GenerationRequest): Promise<{ pieces: PromptPieces; plan: DecodingPlan }> {
    if (request.prompt !== undefined) {
      return { pieces: this.#rawPrompts.pieces(request.prompt), plan: this.#planner.rawPlan };
    }
    const { contextWindow } = this;
    const input = this.#planner.promptInput(request);
    const minTokens = this.#prompts.bounds.minTokens(input.messages);
    if (minTokens >= contextWindow) throw contextExceeded(`at least ${minTokens}`, contextWindow, request);
    const rendered = await this.#prompts.render(input);
    const last = rendered.at(-1) ?? "";
    const plan = await this.#planner.plan(request, last);
    const [begun, ...rest] = this.#prompts.pieces(request.prefill ?? "");
    return { pieces: [...rendered.slice(0, -1), last + plan.prefill + begun, ...rest], plan };
  }

  /** Only with a chat whose logits may depend on how it is evaluated: a state is evaluated in other batches. */
  async #withStoredState(
    request: GenerationRequest,
    prompt: readonly Token[],
    acquired: AcquiredSequence,
    { reuse, signal }: { reuse: PrefixReuse; signal: AbortSignal },
  ): Promise<{ acquired: AcquiredSequence; beginning: StoredBeginning | undefined }> {
    const cache = request.prompt === undefined && reuse === "any" ? this.#promptCache : undefined;
    if (cache === undefined || prompt.length <= MIN_STORED_TOKENS) return { acquired, beginning: undefined };
    try {
      const restored = await cache.restore(acquired, prompt, signal);
      const tokens = request.isStorable === true ? await this.#systemTokens(request, prompt, signal) : 0;
      return { acquired: restored, beginning: await cache.beginning(restored, prompt, tokens) };
    } catch (failure) {
      this.#sequences.release(acquired.sequence, 0);
      throw failure;
    }
  }

  /** Tokens at the beginning of the prompt that do not tell of the conversation: its system messages and tools. */
  async #systemTokens(request: GenerationRequest, prompt: readonly Token[], signal: AbortSignal): Promise<number> {
    const first = request.messages.findIndex(
      ({ role, isSummary }) => (role !== "system" && role !== "developer") || isSummary === true,
    );
    const end = first === -1 ? request.messages.length : first;
    const messages = [...request.messages.slice(0, end), { role: "user" as const, content: OTHER_MESSAGE }];
    try {
      const pieces = await this.#prompts.render(this.#planner.promptInput({ ...request, messages }));
      const { tokens } = await this.#prompts.tokenize(pieces, prompt.length, signal);
      const different = tokens.findIndex((token, index) => token !== prompt[index]);
      return Math.min(different === -1 ? tokens.length : different, prompt.length - 1);
    } catch {
      // A template may want more than that.
      return 0;
    }
  }

  #echoOf({ input }: RawPrompt, tokens: readonly Token[]): Echo {
    // The tokenizer may have added one before a text.
    const { bos } = this.#model.tokens;
    const isAdded =
      typeof input === "string" && tokens[0] === bos && !input.startsWith(this.#model.tokens.bosString ?? "");
    const text = typeof input === "string" ? input : this.#model.detokenize([...tokens], true);
    return { text, firstToken: isAdded ? 1 : 0 };
  }

  #createLogprobReader({ topLogprobs }: GenerationRequest): LogprobReader | undefined {
    if (topLogprobs === undefined) return undefined;
    return new LogprobReader({ decoder: this.#decoder, model: this.#model, bytes: this.#bytes }, topLogprobs);
  }

  #reuseFor(request: GenerationRequest): PrefixReuse {
    if (!this.#prefixReuse) return "none";
    if (!this.#isRepeatable(request)) return "any";
    return allowsTiles(this.#batchSize) ? "repeatable" : "none";
  }

  /**
   * Whether the same logits are promised alone and beside others: with a seed, also at temperature 0, which without one
   * is greedy and reuses all that was evaluated. Only on a CPU: a GPU rounds differently with each number of sequences.
   */
  #isRepeatable({ seed }: GenerationRequest): boolean {
    return this.device === "cpu" && seed !== undefined;
  }

  #repeatableEvaluation(promptTokens: number): RepeatableEvaluation {
    return new RepeatableEvaluation({ splitsKeys: this.#splitsKeys, batchSize: this.#batchSize, promptTokens });
  }
}

function contextExceeded(promptTokens: string, contextWindow: number, { prompt }: GenerationRequest): RequestError {
  const [subject, param] = prompt === undefined ? ["messages take", "messages"] : ["prompt takes", "prompt"];
  return new RequestError(
    `This model's context window is ${contextWindow} tokens, but the ${subject} ${promptTokens} and the answer needs at least 1.`,
    param,
    "context_length_exceeded",
  );
}
