import type { EmbeddingModel, RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";
import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import { rankByCosine } from "../../engines/shared/rank-by-cosine.ts";
import { singleEvent } from "../../engines/shared/single-event.ts";
import { rerankParts } from "../cache/cache-parts.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

/** Special tokens that common tokenizers add around a query and a document. */
const TOKENS_AROUND_PAIR = 4;

/** Adapts reranking, whose answer is one event with all scores. */
export function rerankAdapter(request: Omit<RerankRequest, "model">): TaskAdapter<EmbeddingModel, RerankResult> {
  const { query, documents } = request;
  // A cross-encoder reads the query with each document.
  const sumOfPairs = (count: (text: string) => number) =>
    documents.reduce((sum, document) => sum + count(query) + count(document), 0);
  return {
    task: "embedding",
    upperBound: () => ({
      ...NO_UPPER_BOUND,
      promptTokens: sumOfPairs((text) => Buffer.byteLength(text)) + TOKENS_AROUND_PAIR * documents.length,
    }),
    cacheParts: () => rerankParts(request),
    callerHeaders: request.callerHeaders,
    affinity: () => undefined,
    refusal: (model, id) => (model.rerank === undefined ? undefined : model.missing?.("rerank", id)),
    begin: (model, id, signal) =>
      singleEvent(async () => {
        const attempt = { ...request, model: id };
        const result = await (model.rerank?.(attempt, signal) ?? rankByCosine(model, attempt, signal));
        return signal.aborted ? undefined : result;
      }),
    drainsToBuffer: () => true,
    count: ({ promptTokens, estimated }, used) => {
      used.promptTokens = promptTokens;
      used.estimated = estimated;
      return true;
    },
    countAbandoned: (used) => {
      used.promptTokens = sumOfPairs(estimateTextTokens);
      used.estimated = true;
    },
    isEnd: undefined,
  };
}
