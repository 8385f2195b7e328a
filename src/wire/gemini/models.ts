/** GET /v1beta/models in Gemini's format. */

import { z } from "zod";
import type { ChatAbilities } from "../../contracts/chat-model.ts";
import type { ModelDescription } from "../../contracts/model-description.ts";
import type { Task } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";

const MAX_PAGE_SIZE = 1000;

export const GeminiModelQuery = lazy.object(() => ({
  pageSize: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(50).describe("Maximum models of the page."),
  pageToken: z.string().optional().describe("`nextPageToken` of the page before."),
}));

export const GeminiModel = named(
  "GeminiModel",
  lazy.object(() => ({
    name: z.string(),
    displayName: z.string(),
    version: z.string(),
    inputTokenLimit: z.int().optional(),
    outputTokenLimit: z.int().optional(),
    supportedGenerationMethods: z.array(z.string()),
    thinking: z.boolean().optional(),
  })),
);

export const GeminiModelList = named(
  "GeminiModelList",
  lazy.object(() => ({ models: z.array(GeminiModel), nextPageToken: z.string().optional() })),
);

interface ShownModel {
  id: string;
  facts: { task: Task; description: ModelDescription | undefined; abilities: ChatAbilities | undefined };
}

/** Methods of the tasks that Gemini's clients can use. */
const METHODS: Partial<Record<Task, readonly string[]>> = {
  chat: ["generateContent", "streamGenerateContent", "countTokens"],
  embedding: ["embedContent", "batchEmbedContents"],
};

export function toGeminiModel({ id, facts }: ShownModel): AnswerOf<typeof GeminiModel> {
  const { task, description, abilities } = facts;
  const window =
    description?.task === "chat" || description?.task === "embedding" ? description.contextWindow : undefined;
  return {
    name: `models/${id}`,
    displayName: id,
    version: "1",
    ...(window !== undefined && { inputTokenLimit: window, outputTokenLimit: window }),
    supportedGenerationMethods: METHODS[task] ?? [],
    ...(abilities?.reasoning !== undefined && { thinking: abilities.reasoning }),
  };
}

/** Renders the page after a model's ID. */
export function toGeminiModels(
  models: readonly ShownModel[],
  { pageSize, pageToken }: z.output<typeof GeminiModelQuery>,
): AnswerOf<typeof GeminiModelList> {
  const shown = models.filter(({ facts }) => METHODS[facts.task] !== undefined);
  const start = pageToken === undefined ? 0 : shown.findIndex(({ id }) => id === pageToken) + 1;
  const page = shown.slice(start, start + pageSize);
  const next = start + pageSize < shown.length ? page.at(-1)?.id : undefined;
  return { models: page.map(toGeminiModel), ...(next !== undefined && { nextPageToken: next }) };
}
