import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { EmbeddingDialect } from "../native-upstream/native-embedding.ts";

const Answer = lazy.object(() => ({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .optional()
    .catch(undefined),
}));

const BATCH = 128;

export const mistralEmbeddings: EmbeddingDialect = {
  provider: "Mistral",
  batchSize: BATCH,
  toCall: (input, { dimensions }, model) => ({
    path: "embeddings",
    body: { model, input, ...(dimensions !== undefined && { output_dimension: dimensions }) },
  }),
  read(answer) {
    const { data, usage } = Answer.parse(answer);
    const sorted = data.toSorted((a, b) => a.index - b.index);
    return { vectors: sorted.map(({ embedding }) => embedding), promptTokens: usage?.prompt_tokens };
  },
};
