import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { CacheStatus } from "../../openapi/organization-answers.ts";

const filter = z.string().min(1).max(200);

export const CachePurgeQuery = lazy.strictObject(() => ({
  key: filter.optional().describe("Key of one answer, as `x-parlance-cache-key` says it."),
  project_id: filter.optional().describe("Project whose answers are removed."),
  model: filter.optional().describe("Model whose answers are removed: its ID, or the wildcard that matches it."),
}));

export function toPurgeFilter({ key, project_id, model }: z.output<typeof CachePurgeQuery>) {
  return { key, scopeId: project_id, model };
}

export function toCacheStatus(size: { answers: number; bytes: number }): AnswerOf<typeof CacheStatus> {
  return { object: "organization.cache", ...size };
}
