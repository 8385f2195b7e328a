/** Stored prompts, their versions and labels, as clients send and read them. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { PAGE_QUERY, toSeconds } from "../organization/organization-list.ts";
import { PromptContent } from "./prompt-content.ts";

const NAME = z.string().trim().min(1).max(200);
const DESCRIPTION = z.string().max(2000);
const LABEL = /^[a-z][a-z0-9_-]{0,62}$/;

export const PromptCreateBody = named(
  "PromptCreateBody",
  lazy.strictObject(() => ({
    name: NAME.describe("One per project; requests can use it in place of the ID."),
    description: DESCRIPTION.optional(),
    content: PromptContent.describe("The first version."),
    note: DESCRIPTION.optional(),
    labels: listOf(z.string()).max(20).optional().describe("Labels of the first version."),
  })),
);

export const PromptUpdateBody = named(
  "PromptUpdateBody",
  lazy.strictObject(() => ({
    name: NAME.optional(),
    description: DESCRIPTION.nullish(),
  })),
);

export const PromptVersionBody = named(
  "PromptVersionBody",
  lazy.strictObject(() => ({
    content: PromptContent,
    note: DESCRIPTION.optional().describe("Why the version was made."),
    labels: listOf(z.string()).max(20).optional().describe("Labels that move to the version."),
  })),
);

export const PromptLabelBody = named(
  "PromptLabelBody",
  lazy.strictObject(() => ({ version: z.int().min(1) })),
);

export const PromptListQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  order: z.enum(["asc", "desc"]).default("desc"),
}));

export function isPromptLabel(label: string): boolean {
  return LABEL.test(label);
}

export const StoredPrompt = named(
  "StoredPrompt",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("prompt"),
    name: z.string(),
    description: z.string().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
    latest_version: z.int(),
    labels: z.record(z.string(), z.int()).describe("Version of each label."),
  })),
);
export const StoredPromptList = listOfEntries(StoredPrompt);

export const StoredPromptVersion = named(
  "StoredPromptVersion",
  lazy.object(() => ({
    object: z.literal("prompt.version"),
    prompt_id: z.string(),
    version: z.int(),
    content: PromptContent,
    note: z.string().nullable(),
    labels: z.array(z.string()),
    created_at: z.int(),
  })),
);
export const StoredPromptVersionList = named(
  "StoredPromptVersionList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(StoredPromptVersion),
  })),
);

export const PromptUsage = named(
  "PromptUsage",
  lazy.object(() => ({
    object: z.literal("prompt.usage"),
    prompt_id: z.string(),
    data: z.array(
      z.object({
        version: z.int(),
        requests: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cost_usd: z.number().nullable(),
        ratings: z.int().describe("Scores of feedback about requests with the version."),
        mean_score: z.number().nullable().describe("Mean of these scores, 0 to 1."),
        last_used_on: z.int().describe("Beginning of the last UTC day with a request."),
      }),
    ),
  })),
);

export interface ShownPrompt {
  id: string;
  name: string;
  description: string | null;
  createdAt: number;
  updatedAt: number;
  latestVersion: number;
  labels: Readonly<Record<string, number>>;
}

export interface ShownPromptVersion {
  promptId: string;
  version: number;
  content: PromptContent;
  note: string | null;
  labels: readonly string[];
  createdAt: number;
}

export interface ShownPromptUsage {
  version: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  costNanoDollars: number | null;
  ratings: number;
  meanScore: number | null;
  lastDay: number;
}

export function toPrompt(prompt: ShownPrompt): AnswerOf<typeof StoredPrompt> {
  return {
    id: prompt.id,
    object: "prompt",
    name: prompt.name,
    description: prompt.description,
    created_at: toSeconds(prompt.createdAt),
    updated_at: toSeconds(prompt.updatedAt),
    latest_version: prompt.latestVersion,
    labels: prompt.labels,
  };
}

export function toPromptVersion(version: ShownPromptVersion): AnswerOf<typeof StoredPromptVersion> {
  return {
    object: "prompt.version",
    prompt_id: version.promptId,
    version: version.version,
    content: version.content,
    note: version.note,
    labels: version.labels,
    created_at: toSeconds(version.createdAt),
  };
}

export function toPromptUsage(promptId: string, usage: readonly ShownPromptUsage[]): AnswerOf<typeof PromptUsage> {
  return {
    object: "prompt.usage",
    prompt_id: promptId,
    data: usage.map((each) => ({
      version: each.version,
      requests: each.requests,
      input_tokens: each.promptTokens,
      output_tokens: each.completionTokens,
      cost_usd: inDollars(each.costNanoDollars),
      ratings: each.ratings,
      mean_score: each.meanScore,
      last_used_on: toSeconds(each.lastDay),
    })),
  };
}
