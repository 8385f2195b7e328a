import type { RerankRequest } from "../../contracts/embedding-model.ts";

/** Call of a reranker in another process. */
export interface RankCall {
  ranked: RerankRequest;
}

export function isRankCall(input: unknown): input is RankCall {
  return typeof input === "object" && input !== null && "ranked" in input;
}
