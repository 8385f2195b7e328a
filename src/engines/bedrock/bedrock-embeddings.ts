/** Embeddings and reranking by InvokeModel, in the formats of Amazon's and Cohere's models. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { EmbeddingDialect, RankingDialect } from "../native-upstream/native-embedding.ts";
import { readRerankAnswer } from "../openai-compatible/upstream-rerank.ts";
import { readBedrockError } from "./bedrock-error.ts";
import type { BedrockSettings } from "./settings.ts";

const Vector = z.array(z.number());
const Titan = lazy.object(() => ({ embedding: Vector, inputTextTokenCount: z.int().min(0).optional() }));
const Cohere = lazy.object(() => ({ embeddings: z.union([z.array(Vector), z.object({ float: z.array(Vector) })]) }));

/** Maximum texts of one call to Cohere's models; Amazon's take one. */
const COHERE_BATCH = 96;

export function bedrockEmbeddings({ model: configured = "" }: BedrockSettings): EmbeddingDialect {
  const isCohere = configured.includes("cohere.");
  return {
    provider: "Bedrock",
    readError: readBedrockError,
    batchSize: isCohere ? COHERE_BATCH : 1,
    toCall(texts, { dimensions, purpose }, model) {
      if (!isCohere) {
        const body = { inputText: texts[0], ...(dimensions !== undefined && { dimensions }) };
        return { path: pathOf(model), body, headers: JSON_ONLY };
      }
      const input_type = purpose === "ranking" ? "search_query" : "search_document";
      const size = dimensions === undefined ? {} : { output_dimension: dimensions };
      return {
        path: pathOf(model),
        body: { texts, input_type, embedding_types: ["float"], ...size },
        headers: JSON_ONLY,
      };
    },
    read(answer) {
      if (isCohere) {
        const { embeddings } = Cohere.parse(answer);
        return { vectors: Array.isArray(embeddings) ? embeddings : embeddings.float, promptTokens: undefined };
      }
      const { embedding, inputTextTokenCount: promptTokens } = Titan.parse(answer);
      return { vectors: [embedding], promptTokens };
    },
    ...(configured.includes("rerank") && { ranking: RANKING }),
  };
}

const JSON_ONLY = { accept: "application/json" };

function pathOf(model: string): string {
  return `model/${encodeURIComponent(model)}/invoke`;
}

const RANKING: RankingDialect = {
  toCall: ({ query, documents }, model) => ({
    path: pathOf(model),
    body: { query, documents, ...(model.includes("cohere.") && { api_version: 2 }) },
    headers: JSON_ONLY,
  }),
  read: (answer, request) => readRerankAnswer(answer, request),
};
