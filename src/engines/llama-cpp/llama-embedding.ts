import type { EmbeddingModel as GgufEmbeddingModel } from "@parlance-inference/llama-batching/embedding-model";
import type { EmbeddingModel, EmbeddingRequest, EmbeddingResult } from "../../contracts/embedding-model.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { countsOtherwise, decodeTokenIds, type TokenIds } from "../shared/token-ids.ts";
import { toFault } from "./to-fault.ts";

interface Options {
  slots: number;
  longInput: "refuse" | "average" | undefined;
  tokenIds: TokenIds;
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
  readonly #tokenIds: TokenIds;

  constructor(model: GgufEmbeddingModel, { slots, longInput, tokenIds }: Options) {
    this.slots = slots;
    this.device = model.device;
    this.dimensions = model.dimensions;
    this.contextWindow = model.contextWindow;
    this.#model = model;
    this.#longInput = longInput;
    this.#tokenIds = tokenIds;
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const longInput =
      this.#longInput ?? request.longInput ?? (countsOtherwise(request, this.#tokenIds) ? "average" : "refuse");
    const texts = await decodeTokenIds(request, this.#tokenIds);
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
