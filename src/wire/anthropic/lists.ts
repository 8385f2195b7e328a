/** Lists as Anthropic's clients page through them: by the last ID, by the first one, or by a cursor. */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { queryNumber } from "../openai/organization/organization-list.ts";

const MAX_LIMIT = 1000;

export const PAGE_QUERY = {
  limit: queryNumber(z.int().min(1).max(MAX_LIMIT)).default(20).describe("Maximum entries of the page."),
  after_id: z.string().min(1).optional().describe("ID of the last entry of the page before."),
  before_id: z.string().min(1).optional().describe("ID of the first entry of the page after."),
  page: z.string().min(1).optional().describe("`next_page` of the page before."),
};

export function pageOf<Entry extends z.ZodType>(entry: Entry) {
  return {
    data: z.array(entry),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    next_page: z.string().nullable(),
  };
}

interface PageQuery {
  limit: number;
  after_id?: string | undefined;
  before_id?: string | undefined;
  page?: string | undefined;
}

/** Newest first. Throws a Fault for two positions. */
export function toPageRequest({ limit, after_id: after, before_id: before, page }: PageQuery) {
  const positions = [after, before, page].filter((each) => each !== undefined);
  if (positions.length > 1) {
    throw invalidRequest("Send one of 'after_id', 'before_id' and 'page'.", "after_id", "invalid_value");
  }
  return { limit, after: after ?? page, before, order: "desc" as const };
}

export function toPage<Entry, Shown extends { id: string }>(
  { entries, hasMore }: { entries: readonly Entry[]; hasMore: boolean },
  toShown: (entry: Entry) => Shown,
) {
  const data = entries.map(toShown);
  const last_id = data.at(-1)?.id ?? null;
  return { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id, next_page: hasMore ? last_id : null };
}

/** Epoch milliseconds → RFC 3339 */
export function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
