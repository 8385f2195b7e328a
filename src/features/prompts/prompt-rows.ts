/** Rows of stored prompts. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

export interface PromptRow {
  id: string;
  projectId: string;
  /** One per project. */
  name: string;
  description: string | null;
  createdAt: number;
  updatedAt: number;
}

/** Version of a prompt, which never changes. */
export interface PromptVersionRow {
  promptId: string;
  /** From 1. */
  version: number;
  /** `PromptContent` as JSON. */
  content: string;
  note: string | null;
  /** Key that created it. */
  createdBy: string | null;
  createdAt: number;
}

/** Name of a version that callers use, such as production; it moves from version to version. */
export interface PromptLabelRow {
  promptId: string;
  label: string;
  version: number;
  updatedAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    prompts: PromptRow;
    promptVersions: PromptVersionRow;
    promptLabels: PromptLabelRow;
  }
}

export const promptData = {
  prompts: {
    reason: "Templates of projects; the audit log says who changed them.",
    texts: { columns: { name: "prose", description: "prose" }, within: "projectId" },
  },
  promptVersions: {
    rows: [{ by: { createdBy: "caller" }, erase: { createdBy: null } }],
    texts: {
      columns: { content: "definition", note: "prose" },
      within: { column: "promptId", table: "prompts", by: "projectId" },
      key: ["promptId", "version"],
    },
  },
  promptLabels: {
    reason: "Names of versions.",
    texts: {
      columns: { label: "prose" },
      within: { column: "promptId", table: "prompts", by: "projectId" },
      key: ["promptId", "label"],
    },
  },
} as const satisfies PersonalData;
