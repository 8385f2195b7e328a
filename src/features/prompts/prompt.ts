/** Stored prompts and their versions, as the rest of the service reads them. */

import type { PromptContent } from "../../wire/openai/prompts/prompt-content.ts";
import type { PromptVersionUsage } from "./prompt-queries.ts";
import type { PromptRow, PromptVersionRow } from "./prompt-rows.ts";

export interface Prompt extends PromptRow {
  latestVersion: number;
  /** Version of each label. */
  labels: Readonly<Record<string, number>>;
}

export interface PromptVersion extends Omit<PromptVersionRow, "content"> {
  content: PromptContent;
  /** Length of the content in JSON. */
  characters: number;
  labels: readonly string[];
}

export interface UsedVersion extends PromptVersionUsage {
  ratings: number;
  /** 0 to 1; null: without any. */
  meanScore: number | null;
}

export interface NewVersion {
  content: PromptContent;
  note?: string | undefined;
  labels?: readonly string[] | undefined;
}
