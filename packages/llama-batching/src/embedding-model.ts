/** Embeds texts with a GGUF model. Its file says how token vectors are pooled. */

import type { LlamaEmbeddingContext, LlamaModel, Token } from "node-llama-cpp";
import { ModelError, RequestError } from "./errors.ts";
import { attempt, type LoadOptions, type openModelFile } from "./load-model.ts";
import { usefulThreads } from "./thread-count.ts";

/** Window of a model that was trained with a longer one, unless the options say otherwise: its memory grows with it. */
const DEFAULT_CONTEXT_SIZE = 2048;

export interface EmbeddingLoadOptions extends Pick<LoadOptions, "path" | "threads" | "gpu" | "gpuLayers"> {
  /** Maximum tokens of a text. Undefined: what the model was trained with, at most 2,048. */
  contextSize: number | undefined;
}

/** Window and threads of a model that reads complete texts. */
export function embeddingContextOptions(model: LlamaModel, { contextSize, threads }: EmbeddingLoadOptions) {
  return {
    contextSize: contextSize ?? Math.min(model.trainContextSize, DEFAULT_CONTEXT_SIZE),
    threads: threads ?? usefulThreads(model.llama.cpuMathCores),
  };
}

export interface EmbedOptions {
  /** What to do with a text beyond the window: throw, or average the vectors of its windows, weighted by their tokens. */
  longInput: "refuse" | "average";
  signal: AbortSignal;
}

export interface Embeddings {
  /** One vector of length 1 after the other. */
  values: Float32Array;
  /** Tokens of all inputs, with the special tokens around them. */
  tokens: number;
}

export class EmbeddingModel {
  readonly device: string;
  readonly dimensions: number;
  readonly contextWindow: number;
  readonly #model: LlamaModel;
  readonly #context: LlamaEmbeddingContext;
  readonly #specialTokens: number;

  private constructor(model: LlamaModel, context: LlamaEmbeddingContext, device: string, contextWindow: number) {
    this.device = device;
    this.dimensions = model.embeddingVectorSize;
    this.contextWindow = contextWindow;
    this.#model = model;
    this.#context = context;
    this.#specialTokens = context.calculateInputLength(model.tokenize("a")) - model.tokenize("a").length;
  }

  /** Throws a ModelError that names the step that failed. */
  static async create(
    { model, device }: Pick<Awaited<ReturnType<typeof openModelFile>>, "model" | "device">,
    options: EmbeddingLoadOptions,
  ): Promise<EmbeddingModel> {
    const { contextSize, threads } = embeddingContextOptions(model, options);
    // A batch holds a complete text: these models read it in both directions. llama.cpp needs room for one more token.
    const size = contextSize + 1;
    const context = await attempt("The model's context cannot be created", () =>
      model.createEmbeddingContext({ contextSize: size, batchSize: size, threads }),
    );
    return new EmbeddingModel(model, context, device, contextSize);
  }

  /** Stops between texts once `signal` aborts. Throws a RequestError for a text beyond the window. */
  async embed(
    inputs: readonly (string | readonly number[])[],
    { longInput, signal }: EmbedOptions,
  ): Promise<Embeddings> {
    const values = new Float32Array(inputs.length * this.dimensions);
    let tokens = 0;
    for (const [index, input] of inputs.entries()) {
      signal.throwIfAborted();
      const vector = values.subarray(index * this.dimensions, (index + 1) * this.dimensions);
      for (const window of this.#windows(this.#toTokens(input, index), index, longInput)) {
        const read = window.length + this.#specialTokens;
        tokens += read;
        addScaled(vector, normalized(await this.#vectorOf(window)), read);
      }
      vector.set(normalized(vector));
    }
    return { values, tokens };
  }

  async #vectorOf(window: readonly Token[]): Promise<Float32Array> {
    const { bos, eos } = this.#model.tokens;
    // The binding has no vector for an empty input, and adds its special tokens only where they are missing.
    const read = window.length > 0 ? [...window] : [bos ?? eos ?? (0 as Token)];
    try {
      return Float32Array.from((await this.#context.getEmbeddingFor(read)).vector);
    } catch (error) {
      throw new ModelError("The model failed while it embedded a text.", 1, error);
    }
  }

  #toTokens(input: string | readonly number[], index: number): readonly Token[] {
    if (typeof input === "string") return this.#model.tokenize(input);
    const size = this.#model.fileInfo.metadata.tokenizer.ggml.tokens.length;
    const unknown = input.find((id) => id >= size);
    if (unknown === undefined) return input as readonly Token[];
    const message = `Invalid token ID in input ${index}: ${unknown}. The IDs of this model go from 0 to ${size - 1}.`;
    throw new RequestError(message, "input", "invalid_value");
  }

  #windows(tokens: readonly Token[], index: number, longInput: EmbedOptions["longInput"]): (readonly Token[])[] {
    const room = this.contextWindow - this.#specialTokens;
    if (tokens.length <= room) return [tokens];
    if (longInput === "refuse") {
      const message = `Input ${index} has ${tokens.length + this.#specialTokens} tokens; the maximum of this model is ${this.contextWindow}. Split it, or set \`long_input: average\` for the model.`;
      throw new RequestError(message, "input", "context_length_exceeded");
    }
    const count = Math.ceil(tokens.length / room);
    return Array.from({ length: count }, (_, window) => tokens.slice(window * room, (window + 1) * room));
  }
}

function addScaled(sum: Float32Array, vector: Float32Array, factor: number): void {
  for (const [index, value] of vector.entries()) sum[index] = (sum[index] ?? 0) + factor * value;
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
