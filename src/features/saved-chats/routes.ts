import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sentKey } from "../../http/sent-key.ts";
import { sessionToken } from "../../http/session-cookie.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  SavedChat,
  SavedChatArrangement,
  SavedChatBody,
  SavedChatList,
  SavedChatListQuery,
  SavedChatPath,
  SavedChatsDeleted,
  SavedChatWithContent,
  SharedChat,
  SharedChatBody,
  SharedChatPath,
  toSavedChat,
  toSharedChat,
} from "../../wire/openai/saved-chats.ts";
import { parse } from "../../wire/openai/validate.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { notStored } from "../accounts/index.ts";
import type { UserSessions } from "../sign-on/index.ts";
import { needsPerson } from "./saved-chat-faults.ts";
import type { ChatOwner } from "./saved-chat-queries.ts";
import type { SavedChats } from "./saved-chats.ts";
import type { SharedChats } from "./shared-chats.ts";

interface OfChat {
  Params: { chat: string };
}

const PROJECT = { tag: "Saved chats", permission: "project" } as const;

/** /v1/saved_chats, /v1/shared_chats */
export function savedChatRoutes(
  userSessions: UserSessions,
  chats: SavedChats,
  shared: SharedChats,
  mayStore: (caller: Caller) => boolean,
): FastifyPluginAsync {
  /** Throws a Fault without the session of a person: others have keys, too, also a person's. */
  const ownerOf = async (request: FastifyRequest): Promise<ChatOwner> => {
    const token = sentKey(request.headers) === undefined ? sessionToken(request) : undefined;
    const session = token === undefined ? undefined : await userSessions.find(token);
    if (session === undefined || session.userId !== request.caller.userId) throw needsPerson();
    return { projectId: projectOf(request), userId: session.userId };
  };
  const placeOf = async (request: FastifyRequest<OfChat>) => ({
    ...(await ownerOf(request)),
    id: parse(SavedChatPath, request.params).chat,
  });
  const checkRetention = ({ caller }: FastifyRequest) => {
    if (!mayStore(caller)) throw notStored("A saved chat");
  };
  return routes(
    operation(
      "GET /saved_chats",
      {
        ...PROJECT,
        summary:
          "Lists the chats that the signed-in person saved in the project, the one that changed last first. Only the person who had a chat reads it. Not in OpenAI's API, like the other operations on them.",
        query: SavedChatListQuery,
        answer: SavedChatList,
      },
      async ({ query: { query, after, limit }, request }) => {
        const owner = await ownerOf(request);
        return toListBody(await chats.list(owner, { query, after, limit }), toSavedChat);
      },
    ),
    operation(
      "DELETE /saved_chats",
      {
        ...PROJECT,
        summary: "Deletes all chats that the signed-in person saved in the project.",
        answer: SavedChatsDeleted,
      },
      async ({ request }) => {
        const count = await chats.deleteAll(await ownerOf(request));
        return { object: "saved_chats.deleted" as const, deleted: true, count };
      },
    ),
    operation(
      "GET /saved_chats/:chat",
      {
        ...PROJECT,
        summary: "Retrieves a chat of the signed-in person with its content.",
        answer: SavedChatWithContent,
      },
      async ({ request }) => {
        const { content, ...chat } = await chats.find(await placeOf(request));
        return { ...toSavedChat(chat), content };
      },
    ),
    operation(
      "PUT /saved_chats/:chat",
      {
        ...PROJECT,
        counts: "never",
        summary:
          "Creates or replaces a chat under an ID that the client chooses. `revision` is the one that the change is based on, 0 for a new chat; a 409 says that another change came first.",
        body: SavedChatBody,
        answer: SavedChat,
      },
      async ({ body, request }) => {
        checkRetention(request);
        const place = await placeOf(request);
        const change = body;
        return toSavedChat(await chats.put(place, change));
      },
    ),
    operation(
      "DELETE /saved_chats/:chat",
      {
        ...PROJECT,
        summary: "Deletes a chat of the signed-in person.",
        answer: deleted("saved_chat.deleted"),
      },
      async ({ request }) => {
        const place = await placeOf(request);
        await chats.delete(place);
        return { id: place.id, object: "saved_chat.deleted", deleted: true };
      },
    ),
    operation(
      "PUT /saved_chats/:chat/arrangement",
      {
        ...PROJECT,
        counts: "never",
        summary:
          "Moves a chat of the signed-in person to a folder and pins it, which changes neither its revision nor its time.",
        body: SavedChatArrangement,
        answer: SavedChat,
      },
      async ({ body: { folder, is_pinned: isPinned }, request }) =>
        toSavedChat(await chats.arrange(await placeOf(request), { folder, isPinned })),
    ),
    operation(
      "PUT /saved_chats/:chat/share",
      {
        ...PROJECT,
        counts: "never",
        summary:
          "Shares a copy of a chat with the members of the project who know its ID. Sharing again replaces the copy under the same ID. It is deleted with the chat.",
        body: SharedChatBody,
        answer: SavedChat,
      },
      async ({ body, request }) => {
        checkRetention(request);
        const place = await placeOf(request);
        await shared.share(place, body);
        return toSavedChat(await chats.head(place));
      },
    ),
    operation(
      "DELETE /saved_chats/:chat/share",
      {
        ...PROJECT,
        summary: "Ends the sharing of a chat and deletes the copy.",
        answer: SavedChat,
      },
      async ({ request }) => {
        const place = await placeOf(request);
        await shared.end(place);
        return toSavedChat(await chats.head(place));
      },
    ),
    operation(
      "GET /shared_chats/:share",
      {
        ...PROJECT,
        summary: "Retrieves a copy of a chat that somebody shares in the project of the signed-in person.",
        answer: SharedChat,
      },
      async ({ request }) => {
        const { projectId } = await ownerOf(request);
        const { share: id } = parse(SharedChatPath, request.params);
        return toSharedChat(await shared.find({ projectId, id }));
      },
    ),
  );
}
