/** Rows of uploads in parts. */

import type { PersonalData } from "../../storage/personal-data.ts";
import type { ShownUpload } from "../../wire/openai/uploads.ts";
import type { FileRow } from "../files/index.ts";

export interface UploadRow extends ShownUpload {
  projectId: string;
  purpose: FileRow["purpose"];
  fileExpiresAfterSeconds: number | null;
  fileId: string | null;
  /** Key that created it; null after the erasure of its user. */
  createdBy: string | null;
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

export const uploadData = {
  uploads: {
    rows: [{ by: { createdBy: "caller" }, order: "id", erase: { createdBy: null, status: "cancelled", filename: "" } }],
  },
  uploadParts: { reason: "Deleted with their upload, an hour after it began." },
} as const satisfies PersonalData;
