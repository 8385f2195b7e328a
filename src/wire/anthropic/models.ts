/** GET /v1/models in Anthropic's format. */

import { z } from "zod";
import type { ModelDescription } from "../../contracts/model-description.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";

const MAX_LIMIT = 1000;

export const ModelListQuery = lazy.object(() => ({
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(MAX_LIMIT),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
}));

export const ModelInfo = named(
  "AnthropicModel",
  lazy.object(() => ({
    type: z.literal("model"),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    capabilities: z.null(),
    lifecycle: z.literal("active"),
    line: z.null(),
    deprecated_at: z.null(),
    retires_at: z.null(),
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
  })),
);

export const ModelInfoList = named(
  "AnthropicModelList",
  lazy.object(() => ({
    data: z.array(ModelInfo),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })),
);

interface ShownModel {
  id: string;
  /** Time at which the catalog first had the model, epoch milliseconds. */
  createdAt: number;
  facts: { description: ModelDescription | undefined };
}

export function toModelInfo({ id, createdAt, facts: { description } }: ShownModel): AnswerOf<typeof ModelInfo> {
  const window = description?.task === "chat" ? (description.contextWindow ?? null) : null;
  return {
    type: "model",
    id,
    display_name: id,
    created_at: new Date(createdAt).toISOString(),
    capabilities: null,
    lifecycle: "active",
    line: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: window,
    max_tokens: window,
  };
}

/** Renders the page after, or before, a model's ID. */
export function toModelInfos(
  models: readonly ShownModel[],
  { limit, after_id: after, before_id: before }: z.output<typeof ModelListQuery>,
): AnswerOf<typeof ModelInfoList> {
  const start = after === undefined ? 0 : models.findIndex(({ id }) => id === after) + 1;
  const end = models.findIndex(({ id }) => id === before);
  const range = models.slice(start, end === -1 ? undefined : end);
  const page = end === -1 ? range.slice(0, limit) : range.slice(-limit);
  return {
    data: page.map(toModelInfo),
    has_more: range.length > page.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
