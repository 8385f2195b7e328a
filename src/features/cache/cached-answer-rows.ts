/** Rows of cached answers. */

export interface CachedAnswerRow {
  /** Hash of everything that determines the answer. */
  key: string;
  organizationId: string;
  /** Project, or the organization whose projects share the answer. */
  scopeId: string;
  /** Catalog ID that answered. */
  model: string;
  catalogId: string;
  /** Length of `content`. */
  bytes: number;
  storedAt: number;
  expiresAt: number;
  /** Encrypted events of the answer. */
  content: Buffer;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    cachedAnswers: CachedAnswerRow;
  }
}
