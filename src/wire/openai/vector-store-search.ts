/** Searches of vector stores, in the API and as a tool. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { AttributeFilterBody, type Attributes } from "./attribute-filters.ts";
import { optional } from "./optional.ts";

const MAX_QUERIES = 16;
const MAX_QUERY_CHARACTERS = 16_000;
export const MAX_RESULTS = 50;

const query = z.string().min(1).max(MAX_QUERY_CHARACTERS);

export const RankingOptionsBody = lazy.strictObject(() => ({
  ranker: z
    .string()
    .min(1)
    .max(256)
    .default("auto")
    .describe(
      "`auto` and `default-2024-11-15`: the service's reranker, if it has one. `none`: no reranker. Or the ID of a model of `POST /v1/rerank`, which is not in OpenAI's API.",
    ),
  score_threshold: z.number().min(0).max(1).default(0),
  hybrid_search: optional(
    z
      .strictObject({ embedding_weight: z.number().min(0).max(1000), text_weight: z.number().min(0).max(1000) })
      .refine((weights) => weights.embedding_weight + weights.text_weight > 0, {
        error: "one of the weights must be above 0",
      }),
  ),
}));

export const SearchBody = named(
  "VectorStoreSearchBody",
  lazy.strictObject(() => ({
    query: z.union([query, listOf(query).min(1).max(MAX_QUERIES)]),
    rewrite_query: z.boolean().default(false),
    max_num_results: z.int().min(1).max(MAX_RESULTS).default(10),
    filters: optional(AttributeFilterBody),
    ranking_options: optional(RankingOptionsBody),
  })),
);

export type RankingOptions = z.output<typeof RankingOptionsBody>;

const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable();

export const SearchResults = named(
  "VectorStoreSearchResults",
  lazy.object(() => ({
    object: z.literal("vector_store.search_results.page"),
    search_query: z.array(z.string()),
    data: z.array(
      z.object({
        file_id: z.string(),
        filename: z.string(),
        score: z.number(),
        attributes,
        content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
      }),
    ),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  })),
);

export interface SearchResult {
  fileId: string;
  filename: string;
  /** 0 to 1. */
  score: number;
  attributes: Attributes | null;
  text: string;
}

export function toSearchResults(
  queries: readonly string[],
  results: readonly SearchResult[],
): AnswerOf<typeof SearchResults> {
  return {
    object: "vector_store.search_results.page",
    search_query: queries,
    data: results.map(({ fileId, filename, score, attributes: values, text }) => ({
      file_id: fileId,
      filename,
      score,
      attributes: values,
      content: [{ type: "text", text }],
    })),
    has_more: false,
    next_page: null,
  };
}
