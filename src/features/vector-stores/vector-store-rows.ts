/** Rows of vector stores. */

export interface VectorStoreRow {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  /** JSON object. */
  metadata: string | null;
  /** Catalog ID of the model that embeds its chunks and queries. */
  embeddingModel: string;
  /** Length of its vectors; null before the first one. */
  dimensions: number | null;
  createdAt: number;
  lastActiveAt: number;
  expiresAfterDays: number | null;
  expiresAt: number | null;
  /** Increases when what a search can find changes. */
  version: number;
  /** Time of its deletion, after which its content is removed in steps. */
  deletedAt: number | null;
}

export type StoreFileStatus = "in_progress" | "completed" | "cancelled" | "failed";

/** File of a vector store. Its content stays when the file itself expires. */
export interface VectorStoreFileRow {
  vectorStoreId: string;
  /** ID of the file. */
  id: string;
  projectId: string;
  /** Changes when the file is added again, so that a run of the earlier addition no longer writes. */
  additionId: string;
  batchId: string | null;
  /** Key that added it, with whose permissions its chunks are embedded. */
  keyId: string;
  filename: string;
  status: StoreFileStatus;
  errorCode: "server_error" | "unsupported_file" | "invalid_file" | null;
  errorMessage: string | null;
  maxTokens: number;
  overlapTokens: number;
  /** JSON object. */
  attributes: string | null;
  /** Bytes of its chunks and vectors. */
  usageBytes: number;
  chunks: number;
  createdAt: number;
  attempts: number;
  runId: string | null;
  /** End of the lease of its run, or time from which it may run, by the database's clock. */
  dueAt: number;
}

export interface VectorStoreBatchRow {
  id: string;
  vectorStoreId: string;
  projectId: string;
  createdAt: number;
  cancelledAt: number | null;
}

/** Consecutive chunks of a file. */
export interface VectorStoreSegmentRow {
  vectorStoreId: string;
  additionId: string;
  position: number;
  chunks: number;
  /** Vectors and terms, encrypted. */
  vectors: Buffer;
  /** JSON array of texts, encrypted. */
  texts: Buffer;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    vectorStores: VectorStoreRow;
    vectorStoreFiles: VectorStoreFileRow;
    vectorStoreBatches: VectorStoreBatchRow;
    vectorStoreSegments: VectorStoreSegmentRow;
  }
}
