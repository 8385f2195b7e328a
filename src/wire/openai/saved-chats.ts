/** Saved chats of the console, which OpenAI's API does not have. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOfEntries } from "../openapi/list-answers.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { PAGE_QUERY, toSeconds } from "./organization/organization-list.ts";

const MAX_TITLE = 200;
const MAX_FOLDER = 100;

/** The client chooses the ID. */
export const SavedChatPath = lazy.looseObject(() => ({
  chat: z.string().regex(/^[\w-]{1,64}$/, { error: "it must have 1 to 64 letters, digits, - or _" }),
}));

export const SavedChatBody = named(
  "SavedChatBody",
  lazy.strictObject(() => ({
    title: z.string().max(MAX_TITLE),
    content: z.string().min(1).describe("The chat in the client's form, which the service does not read."),
    revision: z
      .int()
      .min(0)
      .max(2 ** 31 - 2)
      .describe("Revision that the change is based on; 0: the chat is new."),
  })),
);

export const SavedChatListQuery = lazy.looseObject(() => ({
  ...PAGE_QUERY,
  query: z.string().min(1).max(MAX_TITLE).optional().describe("Part of the title, in any case."),
}));

export const SavedChat = named(
  "SavedChat",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("saved_chat"),
    title: z
      .string()
      .nullable()
      .describe("null: no key of the service decrypts it, or chats are no longer saved here."),
    revision: z.int().describe("Increases with each change."),
    bytes: z.int().describe("Size of the content."),
    created_at: z.int(),
    updated_at: z.int(),
    folder: z.string().nullable(),
    is_pinned: z.boolean(),
    share_id: z.string().nullable().describe("ID of the copy that members of the project read; null: not shared."),
  })),
);

export const SavedChatArrangement = named(
  "SavedChatArrangement",
  lazy.strictObject(() => ({
    folder: z.string().trim().min(1).max(MAX_FOLDER).nullable().describe("null: in no folder."),
    is_pinned: z.boolean(),
  })),
);

export const SharedChatPath = lazy.looseObject(() => ({ share: z.string().max(MAX_TITLE) }));

export const SharedChatBody = named(
  "SharedChatBody",
  lazy.strictObject(() => ({
    title: z.string().max(MAX_TITLE),
    content: z.string().min(1).describe("What members of the project read, in the client's form."),
  })),
);

export const SharedChat = named(
  "SharedChat",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("shared_chat"),
    title: z.string().nullable().describe("null: no key of the service decrypts it."),
    author: z.string().describe("Name of the person who shares it."),
    content: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
  })),
);

export const SavedChatList = listOfEntries(SavedChat);
export const SavedChatWithContent = named("SavedChatWithContent", SavedChat.extend({ content: z.string() }));
export const SavedChatsDeleted = named(
  "SavedChatsDeleted",
  lazy.object(() => ({
    object: z.literal("saved_chats.deleted"),
    deleted: z.boolean(),
    count: z.int(),
  })),
);

export function toSavedChat(chat: {
  id: string;
  title: string | null;
  revision: number;
  bytes: number;
  createdAt: number;
  updatedAt: number;
  folder: string | null;
  isPinned: number;
  shareId: string | null;
}): AnswerOf<typeof SavedChat> {
  const { id, title, revision, bytes, createdAt, updatedAt, folder, isPinned, shareId } = chat;
  return {
    ...{ id, object: "saved_chat", title, revision, bytes },
    ...{ created_at: toSeconds(createdAt), updated_at: toSeconds(updatedAt) },
    ...{ folder, is_pinned: isPinned === 1, share_id: shareId },
  };
}

export function toSharedChat(chat: {
  id: string;
  title: string | null;
  author: string;
  content: string;
  createdAt: number;
  updatedAt: number;
}): AnswerOf<typeof SharedChat> {
  const { id, title, author, content, createdAt, updatedAt } = chat;
  return {
    ...{ id, object: "shared_chat", title, author, content },
    ...{ created_at: toSeconds(createdAt), updated_at: toSeconds(updatedAt) },
  };
}
