/** Feedback about a request; each key, or user in a session, has at most one about it. */
export interface RequestFeedbackRow {
  id: string;
  requestId: string;
  organizationId: string;
  projectId: string;
  /** Key of the author; the user's ID in a session. */
  keyId: string;
  userId: string | null;
  /** 0 (bad) to 1 (good). */
  score: number | null;
  /** A JSON array of strings. */
  tags: string;
  /** Encrypted text. */
  comment: Buffer | null;
  /** Version of the stored prompt that the request named, as its usage label. */
  prompt: string | null;
  createdAt: number;
  updatedAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    requestFeedback: RequestFeedbackRow;
  }
}
