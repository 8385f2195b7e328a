import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { EmbeddingDialect, RankingDialect } from "../native-upstream/native-embedding.ts";
import { readRerankAnswer } from "../openai-compatible/upstream-rerank.ts";
import { readCohereError } from "./cohere-error.ts";
import type { CohereSettings } from "./settings.ts";

const Answer = lazy.object(() => ({
  embeddings: z.object({ float: z.array(z.array(z.number())) }),
  meta: z
    .object({ billed_units: z.object({ input_tokens: z.int().min(0) }) })
    .optional()
    .catch(undefined),
}));

/** Maximum texts of one call. */
const BATCH = 96;

/** Models with a name such as `rerank-v3.5` rerank by themselves. */
export function cohereEmbeddings({ inputType, model = "" }: CohereSettings): EmbeddingDialect {
  return {
    provider: "Cohere",
    readError: readCohereError,
    batchSize: BATCH,
    toCall: (texts, { dimensions }, upstreamModel) => ({
      path: "embed",
      body: {
        model: upstreamModel,
        texts,
        input_type: inputType,
        embedding_types: ["float"],
        ...(dimensions !== undefined && { output_dimension: dimensions }),
      },
    }),
    read(answer) {
      const { embeddings, meta } = Answer.parse(answer);
      return { vectors: embeddings.float, promptTokens: meta?.billed_units.input_tokens };
    },
    ...(model.includes("rerank") && { ranking: RANKING }),
  };
}

const RANKING: RankingDialect = {
  toCall: ({ query, documents }, model) => ({ path: "rerank", body: { model, query, documents } }),
  read: (answer, request) => readRerankAnswer(answer, request),
};
