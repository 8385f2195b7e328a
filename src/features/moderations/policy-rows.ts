/** Rows of the moderation of projects. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

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

export const moderationPolicyData = {
  moderationPolicies: {
    reason: "Settings of projects.",
    impersonal: {
      unsupportedLanguage: "One of a list.",
      model: "A model of the catalog.",
      unsupportedLanguageModel: "A model of the catalog.",
    },
  },
} as const satisfies PersonalData;
