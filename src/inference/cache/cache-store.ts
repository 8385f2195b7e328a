/** The contract of stores of cached answers. */

export interface CacheStore {
  /** Undefined when no answer is stored, or it has expired. */
  get(key: string): Promise<StoredAnswer | undefined>;
  /** Replaces an answer with the same key, and removes the oldest answers beyond the maximum size. */
  put(answer: NewStoredAnswer): Promise<void>;
  /** Removes answers and resolves with their number. */
  purge(filter: PurgeFilter): Promise<number>;
  /** Answers that have not expired, of an organization or of all. */
  size(organizationId?: string): Promise<CacheSize>;
}

export interface StoredAnswer {
  content: Buffer;
  /** Epoch milliseconds. */
  storedAt: number;
}

export interface NewStoredAnswer extends StoredAnswer {
  key: string;
  organizationId: string;
  /** Project, or the organization whose projects share it. */
  scopeId: string;
  /** Catalog ID that answered. */
  model: string;
  /** Catalog entry: the same ID, or the wildcard that matches it. */
  catalogId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Answers that match all conditions. Undefined: any. */
export interface PurgeFilter {
  organizationId?: string | undefined;
  scopeId?: string | undefined;
  /** Catalog ID or catalog entry. */
  model?: string | undefined;
  key?: string | undefined;
}

export interface CacheSize {
  answers: number;
  bytes: number;
}
