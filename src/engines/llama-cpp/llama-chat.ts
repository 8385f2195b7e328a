import type { LlamaModel } from "node-llama-cpp";
import { type Fault, invalidRequest } from "../../faults.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "../chat-model.ts";
import type { ModelHealth } from "../engine.ts";
import { PLAIN_TEXT } from "../plain-chat.ts";
import { BatchLoop } from "./batch-loop.ts";
import { ChatPrompt } from "./chat-prompt.ts";
import { Generation } from "./generation.ts";
import type { LoadedModel } from "./load-model.ts";
import { LEAST_REPEATABLE } from "./prefill-pace.ts";
import { SamplerMemory } from "./sampler-memory.ts";
import { samplingOf } from "./sampling.ts";
import { type Reuse, SequencePool } from "./sequence-pool.ts";

export interface LlamaChatOptions extends LoadedModel {
  prefixReuse: boolean;
  warn: (message: string) => void;
}

/** The chat model inside its own process. A crash or an end of that process is the host's affair. */
export class LlamaChat implements ChatModel {
  readonly task = "chat";
  readonly passesWire = false;
  readonly abilities = PLAIN_TEXT;
  readonly slots: number;
  readonly device: string;
  readonly contextWindow: number;
  readonly #model: LlamaModel;
  readonly #prefixReuse: boolean;
  readonly #batchSize: number;
  readonly #prompt: ChatPrompt;
  readonly #sequences: SequencePool;
  readonly #loop: BatchLoop;
  readonly #samplerMemory: SamplerMemory;

  constructor({ model, context, device, threads, prefixReuse, warn }: LlamaChatOptions) {
    this.slots = context.totalSequences;
    this.device = device;
    this.contextWindow = context.contextSize;
    this.#model = model;
    this.#prefixReuse = prefixReuse;
    this.#batchSize = context.batchSize;
    this.#prompt = new ChatPrompt(model, warn);
    this.#sequences = new SequencePool(context);
    this.#samplerMemory = new SamplerMemory(model.fileInfo.metadata.tokenizer.ggml.tokens.length);
    this.#loop = new BatchLoop(context.batchSize, () => {
      model.llama.maxThreads = threads.current;
    });
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const prompt = await this.#prompt.toTokens(request.messages);
    const room = this.contextWindow - prompt.length;
    if (room < 1) throw contextExceeded(prompt.length, this.contextWindow);
    const taken = await this.#sequences.take(prompt, this.#reuse(request), signal);
    if (taken === undefined) return;
    const generation = new Generation({
      model: this.#model,
      taken,
      prompt,
      sampling: samplingOf(request),
      stop: request.stop,
      samplerMemory: this.#samplerMemory,
      maxTokens: Math.min(request.maxTokens ?? room, room),
    });
    void this.#loop
      .run(generation, signal)
      .then(() => this.#sequences.give(taken.sequence, generation.repeatableTokens));
    yield* generation.events.read();
  }

  #reuse({ seed, temperature }: ChatRequest): Reuse {
    if (!this.#prefixReuse) return "nothing";
    if (seed === undefined && temperature > 0) return "everything";
    return this.#batchSize >= 2 * LEAST_REPEATABLE ? "repeatable" : "nothing";
  }
}

function contextExceeded(promptTokens: number, contextWindow: number): Fault {
  return invalidRequest(
    `This model's context window is ${contextWindow} tokens, but the messages take ${promptTokens} and the answer needs at least 1.`,
    "messages",
    "context_length_exceeded",
  );
}
