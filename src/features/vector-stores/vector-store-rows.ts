/** Rows of vector stores. */

import type { PersonalData } from "../../storage/personal-data.ts";
import type { ShownStore, ShownStoreFile } from "../../wire/openai/vector-stores.ts";

export interface VectorStoreRow extends ShownStore {
  projectId: string;
  /** Length of its vectors; null before the first one. */
  dimensions: number | null;
  /** Increases when what a search can find changes. */
  version: number;
  /** Time of its deletion, after which its content is removed in steps. */
  deletedAt: number | null;
}

export type StoreFileStatus = "in_progress" | "completed" | "cancelled" | "failed";

/** File of a vector store. Its content stays when the file itself expires. */
export interface VectorStoreFileRow extends ShownStoreFile {
  projectId: string;
  /** Changes when the file is added again, so that a run of the earlier addition no longer writes. */
  additionId: string;
  batchId: string | null;
  /** Key that added it, with whose permissions its chunks are embedded. */
  keyId: string;
  filename: string;
  status: StoreFileStatus;
  errorCode: "server_error" | "unsupported_file" | "invalid_file" | null;
  chunks: number;
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

export const vectorStoreData = {
  vectorStores: {
    reason: "Settings of stores of projects; their files are in another table.",
    texts: { columns: { name: "prose", description: "prose", metadata: "json" }, within: "projectId" },
    impersonal: { embeddingModel: "A model of the catalog." },
  },
  vectorStoreBatches: { reason: "Groups of files, which are in another table." },
  vectorStoreSegments: { reason: "Erased with the files of their stores." },
} as const satisfies PersonalData;
