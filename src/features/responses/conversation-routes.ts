import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { holderOf } from "../../http/body-memory.ts";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { newId } from "../../kernel/id.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { Conversation, ItemList, ListedItem as ListedItemAnswer } from "../../wire/responses/conversation-answers.ts";
import {
  ConversationCreateBody,
  ConversationItemsBody,
  ConversationUpdateBody,
  ItemListQuery,
  toConversation,
  toItemList,
} from "../../wire/responses/item-lists.ts";
import type { SentInput } from "../../wire/responses/responses-input.ts";
import { type ListedItem, referencedIds, replaceReferences, toStoredItems } from "../../wire/responses/stored-items.ts";
import { notStored } from "../accounts/index.ts";
import type { ResponseStorage } from "./response-storage.ts";
import { tooLargeToStore } from "./routes.ts";
import { isStorable } from "./storable.ts";
import { requireStorage } from "./stored-response-routes.ts";

interface OfConversation {
  Params: { conversation: string };
}

/** /v1/conversations and their items. */
export function conversations(
  storage: ResponseStorage | undefined,
  mayStore: (caller: Caller) => boolean,
): FastifyPluginAsync {
  return routes(
    // Counts as a request, so that limits bound what a key can store.
    (app) =>
      app.addHook("preHandler", async (request, _reply) => {
        if (request.method !== "POST") return;
        if (!mayStore(request.caller)) throw notStored("A conversation");
      }),
    operation(
      "POST /conversations",
      {
        summary: "Creates a conversation; takes `items` and `metadata`.",
        tag: "Responses",
        permission: "project",
        body: ConversationCreateBody,
        isBodyOptional: true,
        answer: Conversation,
      },
      async ({ body, caller, request, reply }) => {
        const { items = [], metadata = {} } = body;
        const stored = await toOwnItems(reply, items);
        const resource = { projectId: projectOf(request), id: newId("conv_"), createdBy: caller.keyId };
        return toConversation(await requireStorage(storage).conversations.create(resource, metadata, stored));
      },
    ),
    operation(
      "GET /conversations/:conversation",
      {
        summary: "Retrieves a conversation.",
        tag: "Responses",
        permission: "project",
        answer: Conversation,
      },
      async ({ request }) => {
        return toConversation(await requireStorage(storage).conversations.find(resourceOf(request)));
      },
    ),
    operation(
      "POST /conversations/:conversation",
      {
        summary: "Replaces the metadata of a conversation.",
        tag: "Responses",
        permission: "project",
        body: ConversationUpdateBody,
        answer: Conversation,
      },
      async ({ body, request }) => {
        const { metadata } = body;
        return toConversation(await requireStorage(storage).conversations.update(resourceOf(request), metadata));
      },
    ),
    operation(
      "DELETE /conversations/:conversation",
      {
        summary: "Deletes a conversation. Stored responses keep their items.",
        tag: "Responses",
        permission: "project",
        answer: deleted("conversation.deleted"),
      },
      async ({ request }) => {
        const resource = resourceOf(request);
        await requireStorage(storage).conversations.delete(resource);
        return { id: resource.id, object: "conversation.deleted", deleted: true };
      },
    ),
    operation(
      "POST /conversations/:conversation/items",
      {
        summary: "Adds up to 20 items to a conversation.",
        tag: "Responses",
        permission: "project",
        body: ConversationItemsBody,
        answer: ItemList,
      },
      async ({ body: { items }, request, reply }) => {
        const entries = await toOwnItems(reply, items);
        await requireStorage(storage).conversations.addItems(resourceOf(request), entries);
        return toItemList({ entries, hasMore: false });
      },
    ),
    operation(
      "GET /conversations/:conversation/items",
      {
        summary: "Lists the items of a conversation.",
        tag: "Responses",
        permission: "project",
        query: ItemListQuery,
        answer: ItemList,
      },
      async ({ query: { after, limit, order }, request }) => {
        const page = { after, limit, order };
        return toItemList(await requireStorage(storage).conversations.listItems(resourceOf(request), page));
      },
    ),
    operation(
      "GET /conversations/:conversation/items/:item",
      {
        summary: "Retrieves an item of a conversation.",
        tag: "Responses",
        permission: "project",
        answer: ListedItemAnswer,
      },
      async ({ params, request, reply }) => {
        return reply.send(await requireStorage(storage).conversations.findItem(resourceOf(request), params.item));
      },
    ),
    operation(
      "DELETE /conversations/:conversation/items/:item",
      {
        summary: "Removes an item from a conversation.",
        tag: "Responses",
        permission: "project",
        answer: Conversation,
      },
      async ({ params, request }) => {
        const { conversations: stored } = requireStorage(storage);
        return toConversation(await stored.deleteItem(resourceOf(request), params.item));
      },
    ),
  );

  /** Copies referenced items, and gives every item an id. Throws a Fault for unknown references and large items. */
  async function toOwnItems(reply: FastifyReply, items: SentInput): Promise<ListedItem[]> {
    const { items: stored } = requireStorage(storage);
    const referencedItems = await stored.find(projectOf(reply.request), referencedIds(items), holderOf(reply));
    const resolvedItems = replaceReferences(items, referencedItems);
    if (!isStorable(resolvedItems)) throw tooLargeToStore("items", "to a conversation");
    return toStoredItems(resolvedItems);
  }
}

function resourceOf(request: FastifyRequest<OfConversation>) {
  return { projectId: projectOf(request), id: request.params.conversation };
}
