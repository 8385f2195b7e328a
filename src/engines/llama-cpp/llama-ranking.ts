import type { RankingModel } from "@parlance-inference/llama-batching/ranking-model";
import type { EmbeddingModel, EmbeddingResult, RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { toFault } from "./to-fault.ts";

/** The cross-encoder inside its child process. */
export class LlamaRanking implements EmbeddingModel {
  readonly task = "embedding";
  readonly slots: number;
  readonly device: string;
  readonly dimensions = undefined;
  readonly contextWindow: number;
  readonly #model: RankingModel;

  constructor(model: RankingModel, slots: number) {
    this.slots = slots;
    this.device = model.device;
    this.contextWindow = model.contextWindow;
    this.#model = model;
  }

  async embed(): Promise<EmbeddingResult> {
    throw unsupportedValue("This model is a reranker without embeddings. Send the texts to /v1/rerank.", "model");
  }

  async rerank({ query, documents }: RerankRequest, signal: AbortSignal): Promise<RerankResult> {
    try {
      const { scores, tokens } = await this.#model.rank(query, documents, signal);
      return { scores, promptTokens: tokens, estimated: false };
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
