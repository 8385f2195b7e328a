import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { disconnection } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  StoredCompletion,
  StoredCompletionMessages,
  StoredCompletionPage,
} from "../../wire/openai/chat/completion-answers.ts";
import {
  metadataFilter,
  StoredCompletionsQuery,
  StoredCompletionUpdateBody,
  StoredMessagesQuery,
  toStoredCompletion,
  toStoredMessages,
  toStoredPage,
} from "../../wire/openai/chat/stored-completions.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import type { StoredCompletions } from "./stored-completions.ts";

interface OfCompletion {
  Params: { completion: string };
}

const PATH = "/chat/completions/:completion";
const CHAT = { tag: "Chat", permission: "project" } as const;

/** Lists, retrieves, changes and deletes chat completions that were created with `store: true`. */
export function storedCompletions(stored: StoredCompletions | undefined): FastifyPluginAsync {
  return routes(
    operation(
      "GET /chat/completions",
      {
        summary: "Lists chat completions of the project that were created with `store: true`, by model and metadata.",
        ...CHAT,
        query: StoredCompletionsQuery,
        answer: StoredCompletionPage,
      },
      async ({ query: { after, limit, order, model, ...others }, request, reply }) => {
        const query = { after, limit, order, model, metadata: metadataFilter(others) };
        const { entries, hasMore } = await requireStored(stored).list(placeOf(request), query, disconnection(reply));
        return toStoredPage(entries, hasMore);
      },
    ),
    operation(
      `GET ${PATH}`,
      { summary: "Retrieves a stored chat completion.", ...CHAT, answer: StoredCompletion },
      async ({ request }) => toStoredCompletion(await requireStored(stored).find(placeOf(request), idOf(request))),
    ),
    operation(
      `POST ${PATH}`,
      {
        summary: "Replaces the metadata of a stored chat completion.",
        ...CHAT,
        body: StoredCompletionUpdateBody,
        answer: StoredCompletion,
      },
      async ({ body: { metadata }, request }) => {
        return toStoredCompletion(await requireStored(stored).update(placeOf(request), idOf(request), metadata ?? {}));
      },
    ),
    operation(
      `DELETE ${PATH}`,
      { summary: "Deletes a stored chat completion.", ...CHAT, answer: deleted("chat.completion.deleted") },
      async ({ request }) => {
        await requireStored(stored).delete(placeOf(request), idOf(request));
        return { id: idOf(request), object: "chat.completion.deleted" as const, deleted: true as const };
      },
    ),
    operation(
      `GET ${PATH}/messages`,
      {
        summary: "Lists the messages of the request of a stored chat completion.",
        ...CHAT,
        query: StoredMessagesQuery,
        answer: StoredCompletionMessages,
      },
      async ({ query, request }) => {
        const page = query;
        return toStoredMessages(await requireStored(stored).find(placeOf(request), idOf(request)), page);
      },
    ),
  );
}

const idOf = ({ params }: FastifyRequest<OfCompletion>) => params.completion;

function placeOf({ caller }: Pick<FastifyRequest, "caller">) {
  return { organizationId: caller.organizationId, projectId: caller.projectId ?? "" };
}

/** Throws a Fault where nothing is stored. */
function requireStored(stored: StoredCompletions | undefined): StoredCompletions {
  if (stored !== undefined) return stored;
  const message =
    "Chat completions are not stored here: `recorded_content.store_completions` is off, or there is no encryption key.";
  throw new Fault("not-found", message, { code: "storage_disabled" });
}
