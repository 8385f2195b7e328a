/** Rows of uploads in parts. */

import type { FileRow } from "../files/index.ts";

export interface UploadRow {
  id: string;
  projectId: string;
  filename: string;
  purpose: FileRow["purpose"];
  /** Bytes of the complete file, as announced. */
  bytes: number;
  fileExpiresAfterSeconds: number | null;
  status: "pending" | "completing" | "completed" | "cancelled";
  fileId: string | null;
  /** Key that created it; null after the erasure of its user. */
  createdBy: string | null;
  createdAt: number;
  expiresAt: number;
}

/** Part of an upload; its bytes are in the blob store, under the IDs of both. */
export interface UploadPartRow {
  id: string;
  uploadId: string;
  bytes: number;
  createdAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    uploads: UploadRow;
    uploadParts: UploadPartRow;
  }
}
