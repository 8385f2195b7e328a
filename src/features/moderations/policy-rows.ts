/** Rows of the moderation of projects. Times are epoch milliseconds. */

/** Moderation of a project's chats. Null: as requested. */
export interface ModerationPolicyRow {
  projectId: string;
  /** A catalog ID or an alias. */
  model: string | null;
  inputMode: "score" | "block" | null;
  outputMode: "score" | "block" | null;
  /** What happens to text in a language that the moderation model does not know. Null: `pass`. */
  unsupportedLanguage: "pass" | "refuse" | "model" | null;
  /** With `model`: a catalog ID or an alias. */
  unsupportedLanguageModel: string | null;
  updatedAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    moderationPolicies: ModerationPolicyRow;
  }
}
