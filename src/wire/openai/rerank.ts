/** POST /v1/rerank, in the shape of Jina and Cohere: validates the body and renders the ranking. */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { type ParamNames, throwRenamed } from "../rename-params.ts";
import { optional } from "./optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "./unknown-fields.ts";
import { parse } from "./validate.ts";

const MAX_DOCUMENTS = 1000;

const Text = z.string().min(1);

export const RerankBody = named(
  "RerankBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    query: Text,
    documents: listOf(z.union([Text, z.looseObject({ text: Text })]))
      .min(1)
      .max(MAX_DOCUMENTS),
    top_n: optional(z.int().min(1)),
    /** Voyage's name of `top_n`. */
    top_k: optional(z.int().min(1)),
    return_documents: optional(z.boolean()),
  })),
);

const count = z.int().min(0);

export const RankingAnswer = named(
  "Ranking",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("list"),
    model: z.string(),
    results: z
      .array(
        z.object({ index: count, relevance_score: z.number(), document: z.object({ text: z.string() }).optional() }),
      )
      .describe("Most relevant first."),
    usage: z.object({ prompt_tokens: count, total_tokens: count }),
    meta: z
      .object({
        api_version: z.object({ version: z.string() }),
        billed_units: z.object({ search_units: count }),
        tokens: z.object({ input_tokens: count, output_tokens: count }),
      })
      .describe("As Cohere's clients read it."),
  })),
);

const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  rank_fields: { instead: "join the fields into the document's text" },
  return_embeddings: { isDefault: (value) => value === false, instead: "POST /v1/embeddings has them" },
};

export interface ParsedRerank {
  model: string;
  query: string;
  documents: readonly string[];
  topN: number | undefined;
  returnsDocuments: boolean | undefined;
}

/** Returns the names of ignored fields. Throws a Fault for a field that must not be ignored. */
export function ignoredRerankFields(body: unknown, policy: UnknownFieldsPolicy): string[] {
  return checkUnknownFields(body, { known: Object.keys(RerankBody.shape), unsupported: UNSUPPORTED, policy });
}

/** Validates the body. Throws a Fault that names the invalid field. */
export function readRerank(value: unknown): ParsedRerank {
  const { model, query, documents, top_n, top_k, return_documents } = parse(RerankBody, value);
  if (top_n !== undefined && top_k !== undefined && top_n !== top_k) {
    throw invalidRequest("'top_k' means the same as 'top_n', which says otherwise.", "top_k", "invalid_value");
  }
  const texts = documents.map((document) => (typeof document === "string" ? document : document.text));
  return { model, query, documents: texts, topN: top_n ?? top_k, returnsDocuments: return_documents };
}

const PARAMS: ParamNames = [[/^input\b.*/, "documents"]];

/** Throws the failure of an embedding model as one of reranking. */
export function throwForRerank(failure: unknown): never {
  return throwRenamed(failure, PARAMS);
}

interface Ranking {
  /** In the order of the documents. */
  scores: readonly number[];
  promptTokens: number;
}

/** Renders the most relevant documents first, with the fields of Jina's answers and of Cohere's. */
export function toRanking(
  { id, model }: Pick<AnswerIdentity, "id" | "model">,
  { documents, topN = documents.length, returnsDocuments }: ParsedRerank,
  { scores, promptTokens }: Ranking,
): AnswerOf<typeof RankingAnswer> {
  const ranked = scores.map((relevance_score, index) => ({ index, relevance_score }));
  const results = ranked.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, topN);
  return {
    id: `rerank-${id}`,
    object: "list",
    model,
    results: returnsDocuments
      ? results.map((result) => ({ ...result, document: { text: documents[result.index] as string } }))
      : results,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    meta: {
      api_version: { version: "2" },
      billed_units: { search_units: 1 },
      tokens: { input_tokens: promptTokens, output_tokens: 0 },
    },
  };
}
