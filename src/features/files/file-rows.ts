/** File of a project; its bytes are in the blob store, under its id. */
export interface FileRow {
  id: string;
  projectId: string;
  purpose: "assistants" | "batch" | "batch_output" | "user_data" | "vision" | "evals";
  filename: string;
  bytes: number;
  /** 0 while the bytes are being stored. */
  isStored: number;
  createdAt: number;
  expiresAt: number;
  /** Key that stored it; null: stored by an earlier version. */
  createdBy?: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    files: FileRow;
  }
}
