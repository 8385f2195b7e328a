/** Embeddings of the Gemini API (`batchEmbedContents`) and of Vertex AI (`predict`). */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { EmbeddingDialect } from "../native-upstream/native-embedding.ts";
import { readGoogleError } from "./gemini-error.ts";
import type { GeminiSettings } from "./settings.ts";

const Vectors = lazy.object(() => ({
  embeddings: z.array(z.object({ values: z.array(z.number()) })),
  usageMetadata: z
    .object({ promptTokenCount: z.int().min(0) })
    .optional()
    .catch(undefined),
}));
const Statistics = lazy.object(() => ({ token_count: z.number().min(0) }));
const Predictions = lazy.object(() => ({
  predictions: z.array(
    z.object({ embeddings: z.object({ values: z.array(z.number()), statistics: Statistics.optional() }) }),
  ),
}));

/** Maximum inputs of one call. */
const BATCH = 100;
/** `gemini-embedding-001` takes one input per call on Vertex AI. */
const VERTEX_BATCH = 1;

export function geminiEmbeddings({ isVertex }: GeminiSettings): EmbeddingDialect {
  return {
    provider: "Gemini",
    readError: readGoogleError,
    batchSize: isVertex ? VERTEX_BATCH : BATCH,
    toCall(texts, { dimensions }, model) {
      const name = encodeURIComponent(model);
      const size = dimensions === undefined ? {} : { outputDimensionality: dimensions };
      if (isVertex) {
        const instances = texts.map((content) => ({ content }));
        return { path: `models/${name}:predict`, body: { instances, parameters: size } };
      }
      const requests = texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] }, ...size }));
      return { path: `models/${name}:batchEmbedContents`, body: { requests } };
    },
    read(answer) {
      if (!isVertex) {
        const { embeddings, usageMetadata } = Vectors.parse(answer);
        return { vectors: embeddings.map(({ values }) => values), promptTokens: usageMetadata?.promptTokenCount };
      }
      const entries = Predictions.parse(answer).predictions.map(({ embeddings }) => embeddings);
      const counts = entries.map(({ statistics }) => statistics?.token_count);
      const total = counts.reduce((sum: number, count) => sum + (count ?? 0), 0);
      return {
        vectors: entries.map(({ values }) => values),
        promptTokens: total === 0 ? undefined : Math.round(total),
      };
    },
  };
}
