import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Authenticator } from "../../http/authenticate.ts";
import { disconnection } from "../../http/on-disconnect.ts";
import { OpenStreams } from "../../http/open-streams.ts";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sendEvents } from "../../http/send-events.ts";
import { whileAllowed } from "../../http/while-allowed.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { ItemList } from "../../wire/responses/conversation-answers.ts";
import { ItemListQuery, RetrieveQuery, toItemList } from "../../wire/responses/item-lists.ts";
import { Response, ResponseEvent } from "../../wire/responses/response-answers.ts";
import { toResponseFrames } from "../../wire/responses/response-events.ts";
import type { ResponseStorage } from "./response-storage.ts";

/** Streams that one project may keep open: one of another replica's response reads the database several times a second. */
const MAX_STREAMS = 64;

interface OfResponse {
  Params: { response: string };
}

/** Retrieves, lists, cancels and deletes stored responses. */
export function storedResponses(
  storage: ResponseStorage | undefined,
  accounts: Pick<Authenticator, "authenticate" | "authenticateSession">,
): FastifyPluginAsync {
  const streams = new OpenStreams(MAX_STREAMS, "retrieve the response without `stream`");
  return routes(
    operation(
      "GET /responses/:response",
      {
        summary:
          "Retrieves a stored response; `?stream=true&starting_after=` streams the events of one in the background.",
        tag: "Responses",
        permission: "project",
        query: RetrieveQuery,
        answer: Response,
        content: ["text/event-stream"],
        events: ResponseEvent,
      },
      async ({ query, request, reply }) => {
        const { responses, background } = requireStorage(storage);
        const { stream, starting_after: startingAfter } = query;
        const resource = resourceOf(request);
        if (!stream) return reply.send((await responses.find(resource)).response);
        if (!(await responses.state(resource)).isBackground) {
          const message = "Only responses that were created with background: true can be streamed again.";
          throw invalidRequest(message, "stream", "invalid_value");
        }
        streams.count(reply);
        const from = startingAfter === undefined ? 0 : startingAfter + 1;
        const frames = toResponseFrames(background.follow(resource, from, disconnection(reply)));
        return sendEvents(reply, whileAllowed(request, accounts, frames));
      },
    ),
    operation(
      "DELETE /responses/:response",
      {
        summary: "Deletes a stored response, and stops it if it still runs.",
        tag: "Responses",
        permission: "project",
        answer: deleted("response"),
      },
      async ({ request }) => {
        const resource = resourceOf(request);
        await requireStorage(storage).background.delete(resource);
        return { id: resource.id, object: "response", deleted: true };
      },
    ),
    operation(
      "POST /responses/:response/cancel",
      {
        summary: "Cancels a response in the background.",
        tag: "Responses",
        permission: "project",
        counts: "never",
        answer: Response,
      },
      async ({ request, reply }) => {
        const { response } = await requireStorage(storage).background.cancel(resourceOf(request));
        return reply.send(response);
      },
    ),
    operation(
      "GET /responses/:response/input_items",
      {
        summary: "Lists the input items of a stored response.",
        tag: "Responses",
        permission: "project",
        query: ItemListQuery,
        answer: ItemList,
      },
      async ({ query: { after, limit, order }, request }) => {
        const page = { after, limit, order };
        return toItemList(await requireStorage(storage).responses.listInputItems(resourceOf(request), page));
      },
    ),
  );
}

function resourceOf(request: FastifyRequest<OfResponse>) {
  return { projectId: projectOf(request), id: request.params.response };
}

/** Throws a Fault where nothing is stored. */
export function requireStorage(storage: ResponseStorage | undefined): ResponseStorage {
  if (storage !== undefined) return storage;
  const message =
    "Responses and conversations are not stored here: `responses.store` is off, or there is no encryption key. Send the earlier items in 'input'.";
  throw new Fault("not-found", message, { code: "storage_disabled" });
}
