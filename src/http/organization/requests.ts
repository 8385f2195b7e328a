import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { RequestFilter, RequestHistory } from "../../usage/request-history.ts";
import {
  RequestListQuery,
  toPosition,
  toRequestFilter,
  toRequestFrame,
  toRequestPage,
} from "../../wire/openai/organization-requests.ts";
import { parse } from "../../wire/openai/validate.ts";
import { sendEvents } from "../send-events.ts";
import { ownProject } from "./own-project.ts";

/** GET /v1/organization/requests, newest first; `stream=true` follows new ones. A project key sees its own project. */
export function requests(history: RequestHistory, stopping: AbortSignal): FastifyPluginAsync {
  return async (app) => {
    app.get("/requests", { config: { allowsProjectKeys: true } }, async (request, reply) => {
      const query = parse(RequestListQuery, request.query);
      const filter = filterOf(request, toRequestFilter(query));
      if (query.stream !== true) {
        return toRequestPage(await history.list(filter, toPosition(query.page), query.limit));
      }
      const left = new AbortController();
      reply.raw.once("close", () => left.abort());
      return sendEvents(reply, frames(history.follow(filter, AbortSignal.any([left.signal, stopping]))));
    });
  };
}

async function* frames(entries: ReturnType<RequestHistory["follow"]>): AsyncGenerator<string> {
  for await (const entry of entries) yield toRequestFrame(entry);
}

function filterOf(request: FastifyRequest, asked: Omit<RequestFilter, "organizationId">): RequestFilter {
  return { ...asked, organizationId: request.caller.organizationId, projectIds: ownProject(request, asked.projectIds) };
}
