import type { AnswerCache } from "../../inference/cache/answer-cache.ts";
import type { CacheStore } from "../../inference/cache/cache-store.ts";

export interface CacheStorage {
  answers: AnswerCache;
  store: CacheStore;
}
