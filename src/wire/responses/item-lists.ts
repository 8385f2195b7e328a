/** Lists of items, and bodies and answers of conversations. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { PAGE_QUERY, queryBoolean, queryNumber, toSeconds } from "../openai/organization/organization-list.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import type { Conversation, ItemList } from "./conversation-answers.ts";
import { Metadata } from "./metadata.ts";
import { Item } from "./responses-input.ts";
import type { ListedItem } from "./stored-items.ts";

/** OpenAI's limit of items in one call. */
const MAX_NEW_ITEMS = 20;

const NewItems = listOf(Item).max(MAX_NEW_ITEMS);

export const ConversationCreateBody = named(
  "ConversationCreateBody",
  lazy.looseObject(() => ({
    items: optional(NewItems),
    metadata: optional(Metadata),
  })),
);
export const ConversationUpdateBody = named("ConversationUpdateBody", z.looseObject({ metadata: Metadata }));
export const ConversationItemsBody = named("ConversationItemsBody", z.looseObject({ items: NewItems.min(1) }));

/** `include` has no effect: items are shown with all that is stored. */
export const ItemListQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  order: z.enum(["asc", "desc"]).default("desc"),
}));

export const RetrieveQuery = lazy.looseObject(() => ({
  stream: queryBoolean().default(false),
  starting_after: queryNumber(z.int().min(0)).optional(),
}));

export function toItemList({
  entries,
  hasMore,
}: {
  entries: readonly ListedItem[];
  hasMore: boolean;
}): AnswerOf<typeof ItemList> {
  return {
    object: "list" as const,
    // Read from JSON; every item has a type.
    data: entries as AnswerOf<typeof ItemList>["data"],
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

export function toConversation(conversation: {
  id: string;
  createdAt: number;
  metadata: Readonly<Record<string, string>>;
}): AnswerOf<typeof Conversation> {
  const { id, createdAt, metadata } = conversation;
  return { id, object: "conversation" as const, created_at: toSeconds(createdAt), metadata };
}
