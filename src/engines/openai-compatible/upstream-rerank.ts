/** Reads answers of an upstream's /rerank, in the shape that Jina, Cohere, vLLM and llama-server share. */

import { z } from "zod";
import type { RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";
import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";

const Count = z.int().min(0).nullish().catch(undefined);

const Answer = lazy.object(() => ({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
  usage: z.object({ prompt_tokens: Count, total_tokens: Count }).nullish().catch(undefined),
  meta: z
    .object({ tokens: z.object({ input_tokens: Count }).nullish() })
    .nullish()
    .catch(undefined),
}));

/** Returns the scores in the order of the documents. Throws an UpstreamError unless each has one. */
export function readRerankAnswer(answer: unknown, { query, documents }: RerankRequest): RerankResult {
  const error = parseUpstreamError(answer);
  if (error !== undefined) throw error;
  const checked = Answer.safeParse(answer);
  if (!checked.success) throw new UpstreamError("answered with something other than reranked documents");
  const { results, usage, meta } = checked.data;
  const byIndex = new Map(results.map(({ index, relevance_score }) => [index, relevance_score]));
  const scores = documents.map((_, index) => {
    const score = byIndex.get(index);
    if (score === undefined) {
      const problem = `gave ${results.length} scores for ${documents.length} documents`;
      throw new UpstreamError(problem, { dependsOnRequest: true });
    }
    return score;
  });
  const reported = usage?.prompt_tokens ?? usage?.total_tokens ?? meta?.tokens?.input_tokens;
  const estimate = () => documents.reduce((sum, text) => sum + estimateTextTokens(query) + estimateTextTokens(text), 0);
  return { scores, promptTokens: reported ?? estimate(), estimated: typeof reported !== "number" };
}
