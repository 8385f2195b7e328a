import type { Feedback } from "../../wire/openai/organization/organization-request-content.ts";

/** Feedback about a request; each key, or user in a session, has at most one about it. */
export interface RequestFeedbackRow extends Omit<Feedback, "tags" | "comment"> {
  organizationId: string;
  /** A JSON array of strings. */
  tags: string;
  /** Encrypted text. */
  comment: Buffer | null;
  /** Version of the stored prompt that the request named, as its usage label. */
  prompt: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    requestFeedback: RequestFeedbackRow;
  }
}
