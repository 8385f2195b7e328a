/** Chat completions that their callers stored. */

import { z } from "zod";
import type { ContentMessage } from "../../../contracts/chat-content.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { Metadata } from "../../responses/metadata.ts";
import { ORDER_QUERY, PAGE_QUERY } from "../organization/organization-list.ts";
import { parse } from "../validate.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import type { StoredCompletion, StoredCompletionMessages, StoredCompletionPage } from "./completion-answers.ts";
import { toChatMessage, toChoices } from "./recorded-messages.ts";

export const StoredCompletionsQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  ...ORDER_QUERY,
  model: z.string().min(1).max(256).optional(),
}));

export const StoredMessagesQuery = z.looseObject({ ...PAGE_QUERY, ...ORDER_QUERY });

export const StoredCompletionUpdateBody = named(
  "StoredCompletionUpdateBody",
  z.looseObject({ metadata: Metadata.nullable() }),
);

const StoredMetadata = z.looseObject({ metadata: Metadata.nullish() });

/** Returns the metadata of a body that is to be stored. Throws a Fault for values that are not texts. */
export function metadataOf({ metadata }: Pick<ChatCompletionBody, "metadata">): Record<string, string> {
  return parse(StoredMetadata, { metadata }).metadata ?? {};
}

/** Reads `metadata[key]=value` of a query. */
export function metadataFilter(query: Readonly<Record<string, unknown>>): readonly [key: string, value: string][] {
  return Object.entries(query).flatMap(([name, value]) => {
    const [, key] = /^metadata\[(.{1,64})\]$/.exec(name) ?? [];
    return key === undefined ? [] : [[key, String(value)] as [string, string]];
  });
}

/** Fields of the request that a stored completion repeats. */
const REPEATED = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "seed",
  "tools",
  "tool_choice",
  "response_format",
  "service_tier",
] as const;

export function repeatedFields(body: ChatCompletionBody): Record<string, unknown> {
  return Object.fromEntries(REPEATED.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])));
}

interface Stored {
  entry: { id: string };
  inputMessages: readonly ContentMessage[];
  outputMessages: readonly ContentMessage[];
  isTruncated?: boolean | undefined;
  completion: {
    id: string;
    created: number;
    model: string;
    usage: Readonly<Record<string, unknown>>;
    metadata: Readonly<Record<string, string>>;
    request: Readonly<Record<string, unknown>>;
  };
}

export function toStoredCompletion(stored: Stored): AnswerOf<typeof StoredCompletion> {
  const { entry, outputMessages, isTruncated = false, completion } = stored;
  const { id, created, model, usage, metadata, request } = completion;
  return {
    id,
    object: "chat.completion" as const,
    created,
    model,
    ...request,
    request_id: entry.id,
    input_user: null,
    metadata,
    choices: toChoices(outputMessages),
    usage: usage as AnswerOf<typeof StoredCompletion>["usage"],
    ...(isTruncated && { truncated: true as const }),
  };
}

export function toStoredPage(stored: readonly Stored[], hasMore: boolean): AnswerOf<typeof StoredCompletionPage> {
  const data = stored.map(toStoredCompletion);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Renders the messages of the request, in pages. */
export function toStoredMessages(
  { inputMessages, completion }: Stored,
  { after, limit, order }: { after?: string | undefined; limit: number; order: "asc" | "desc" },
): AnswerOf<typeof StoredCompletionMessages> {
  const all = inputMessages.map((message, index) => {
    const { content, ...fields } = toChatMessage(message);
    const parts = Array.isArray(content) ? content : null;
    const id = `${completion.id}-${index}`;
    const text =
      parts === null ? content : message.parts.flatMap((part) => ("content" in part ? part.content : [])).join("");
    return { ...fields, role: message.role, id, content: text as string | null, content_parts: parts };
  });
  if (order === "desc") all.reverse();
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const data = all.slice(start, start + limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: all.length > start + limit,
  };
}
