/** Section `vector_stores`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";

const model = z.string().min(1).max(256);

export const vectorStoreSettings = mapping(
  () => ({
    embedding_model: model
      .optional()
      .describe(
        "Model that embeds the chunks of new stores; a store can ask for another. Default: the first embedding model of the caller.",
      ),
    reranker: model
      .optional()
      .describe(
        "Model of POST /v1/rerank that orders the best chunks again, unless a search asks for the ranker `none`. Default: none.",
      ),
    query_rewriter: model
      .optional()
      .describe("Chat model for searches with `rewrite_query`, which get a 400 without it."),
    max_vectors_per_project: z
      .int()
      .min(1)
      .max(50_000_000)
      .default(1_000_000)
      .describe("Maximum number of chunks in the vector stores of one project; further files fail."),
    max_size_per_project: memory
      .prefault("10GiB")
      .describe("Maximum size of the chunks and vectors of one project, such as 10GiB; further files fail."),
    index_memory: memory
      .prefault("1GiB")
      .describe(
        "Memory for the indexes of stores that were searched, per replica, about 1 KB for each chunk; the least recently searched ones are unloaded above it.",
      ),
    concurrent_files: z
      .int()
      .min(1)
      .max(64)
      .default(2)
      .describe("Files that one replica adds to stores at the same time; further ones wait, and projects take turns."),
  }),
  "Vector stores.",
);

export type VectorStoreSettings = z.output<typeof vectorStoreSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    vectorStores: z.output<typeof vectorStoreSettings>;
  }
}
