/** Ranks documents with a GGUF cross-encoder, which reads a query together with each document. */

import type { LlamaModel, LlamaRankingContext } from "node-llama-cpp";
import { type EmbeddingLoadOptions, embeddingContextOptions } from "./embedding-model.ts";
import { ModelError, RequestError } from "./errors.ts";
import { attempt, type openModelFile } from "./load-model.ts";

export interface Ranking {
  /** Probability that each document is relevant, 0 to 1, in their order. */
  scores: number[];
  /** Tokens of all pairs of query and document, parts of long documents included once. */
  tokens: number;
}

export class RankingModel {
  readonly device: string;
  readonly contextWindow: number;
  readonly #context: LlamaRankingContext;

  private constructor(context: LlamaRankingContext, device: string, contextWindow: number) {
    this.#context = context;
    this.device = device;
    this.contextWindow = contextWindow;
  }

  /** Throws a ModelError that names the step that failed. */
  static async create(
    { model, device }: Pick<Awaited<ReturnType<typeof openModelFile>>, "model" | "device">,
    options: EmbeddingLoadOptions,
  ): Promise<RankingModel> {
    const { contextSize, ...context } = embeddingContextOptions(model, options);
    const created = await attempt("The model's context cannot be created", () =>
      model.createRankingContext({ ...context, contextSize: contextSize + 1, batchSize: contextSize + 1 }),
    );
    return new RankingModel(created, device, contextSize);
  }

  /**
   * A document beyond the window is ranked by its most relevant part. Stops between documents once `signal` aborts.
   * Throws a RequestError for a query that leaves no room for a document.
   */
  async rank(query: string, documents: readonly string[], signal: AbortSignal): Promise<Ranking> {
    const empty = this.#context.calculateInputLength(query, "");
    if (empty >= this.contextWindow / 2) {
      const message = `The query has ${empty} tokens; the maximum of this model is ${Math.floor(this.contextWindow / 2)}. Shorten it, or set a larger \`context_size\` for the model.`;
      throw new RequestError(message, "query", "context_length_exceeded");
    }
    const scores: number[] = [];
    let tokens = 0;
    for (const document of documents) {
      signal.throwIfAborted();
      tokens += this.#context.calculateInputLength(query, document);
      try {
        scores.push(await this.#context.rank(query, document, { onOverflow: "maxChunk" }));
      } catch (error) {
        throw new ModelError("The model failed while it ranked a document.", 1, error);
      }
    }
    return { scores, tokens };
  }
}

/** Whether the file has a classification head for pairs of texts. */
export function isRankingModel(model: LlamaModel): boolean {
  return model.fileInsights.supportsRanking;
}
