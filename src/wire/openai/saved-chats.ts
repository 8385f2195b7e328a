/** Saved chats of the console, which OpenAI's API does not have. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { listOfEntries } from "../openapi/organization-answers.ts";
import { PAGE_QUERY, toSeconds } from "./organization/organization-list.ts";

const MAX_TITLE = 200;

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
}): AnswerOf<typeof SavedChat> {
  const { id, title, revision, bytes, createdAt, updatedAt } = chat;
  return {
    ...{ id, object: "saved_chat", title, revision, bytes },
    ...{ created_at: toSeconds(createdAt), updated_at: toSeconds(updatedAt) },
  };
}
