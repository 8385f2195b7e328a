import type { CacheSize, NewStoredAnswer, PurgeFilter, StoredAnswer } from "../../inference/cache/cache-store.ts";
import type { CacheBackend } from "./cache-backend.ts";

/** Cached answers in the memory of this process, the oldest first. */
export class MemoryCacheStore implements CacheBackend {
  readonly #maxBytes: number;
  readonly #answers = new Map<string, NewStoredAnswer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<StoredAnswer | undefined> {
    const answer = this.#answers.get(key);
    if (answer === undefined || answer.expiresAt > Date.now()) return answer;
    this.#remove(answer);
    return undefined;
  }

  async put(answer: NewStoredAnswer): Promise<void> {
    const former = this.#answers.get(answer.key);
    if (former !== undefined) this.#remove(former);
    this.#answers.set(answer.key, answer);
    this.#bytes += answer.content.length;
    for (const oldest of this.#answers.values()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  async purge(filter: PurgeFilter): Promise<number> {
    return this.#removeEach((answer) => matches(answer, filter));
  }

  async removeExpired(now: number): Promise<void> {
    this.#removeEach(({ expiresAt }) => expiresAt <= now);
  }

  async size(organizationId?: string): Promise<CacheSize> {
    if (organizationId === undefined) return { answers: this.#answers.size, bytes: this.#bytes };
    const answersOfOrganization = [...this.#answers.values()].filter(
      (answer) => answer.organizationId === organizationId,
    );
    return {
      answers: answersOfOrganization.length,
      bytes: answersOfOrganization.reduce((sum, { content }) => sum + content.length, 0),
    };
  }

  async close(): Promise<void> {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #removeEach(isRemoved: (answer: NewStoredAnswer) => boolean): number {
    let removed = 0;
    for (const answer of this.#answers.values()) {
      if (!isRemoved(answer)) continue;
      this.#remove(answer);
      removed += 1;
    }
    return removed;
  }

  #remove(answer: NewStoredAnswer): void {
    this.#answers.delete(answer.key);
    this.#bytes -= answer.content.length;
  }
}

/** Whether a purge removes the answer. */
export function matches(
  answer: Pick<NewStoredAnswer, "key" | "organizationId" | "scopeId" | "model" | "catalogId">,
  { key, organizationId, scopeId, model }: PurgeFilter,
): boolean {
  return (
    (key === undefined || answer.key === key) &&
    (organizationId === undefined || answer.organizationId === organizationId) &&
    (scopeId === undefined || answer.scopeId === scopeId) &&
    (model === undefined || answer.model === model || answer.catalogId === model)
  );
}
