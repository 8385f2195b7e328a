import type { EmbeddingModel as GgufEmbeddingModel } from "@parlance-inference/llama-batching/embedding-model";
import type { EmbeddingModel, EmbeddingRequest, EmbeddingResult } from "../../contracts/engine.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { decodeOpenAiIds } from "../shared/openai-embedding-models.ts";
import { toFault } from "./to-fault.ts";

interface Options {
  slots: number;
  longInput: "refuse" | "average" | undefined;
}

/** The embedding model inside its child process. */
export class LlamaEmbedding implements EmbeddingModel {
  readonly task = "embedding";
  readonly slots: number;
  readonly device: string;
  readonly dimensions: number;
  readonly contextWindow: number;
  readonly #model: GgufEmbeddingModel;
  readonly #longInput: Options["longInput"];

  constructor(model: GgufEmbeddingModel, { slots, longInput }: Options) {
    this.slots = slots;
    this.device = model.device;
    this.dimensions = model.dimensions;
    this.contextWindow = model.contextWindow;
    this.#model = model;
    this.#longInput = longInput;
  }

  async embed({ inputs, usesOpenAiName }: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const longInput = this.#longInput ?? (usesOpenAiName ? "average" : "refuse");
    const texts = usesOpenAiName ? await decodeOpenAiIds(inputs) : inputs;
    try {
      const { values, tokens } = await this.#model.embed(texts, { longInput, signal });
      return { values, dimensions: this.dimensions, promptTokens: tokens, estimated: false };
    } catch (error) {
      if (signal.aborted) throw error;
      throw toFault(error);
    }
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}
}
