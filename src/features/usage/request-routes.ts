import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { allows } from "../../http/access.ts";
import { disconnection } from "../../http/on-disconnect.ts";
import { OpenStreams } from "../../http/open-streams.ts";
import { operation, routes } from "../../http/operation.ts";
import { sendEvents } from "../../http/send-events.ts";
import { whileAllowed } from "../../http/while-allowed.ts";
import {
  RequestHistogramQuery,
  RequestListQuery,
  toHistogramRange,
  toPosition,
  toRequestFilter,
  toRequestHistogram,
  toRequestOrder,
  toRequestPage,
  toSortedPosition,
} from "../../wire/openai/organization/organization-requests.ts";
import { toRequestFrame } from "../../wire/openai/organization/request-entries.ts";
import { RequestEntry, RequestHistogram, RequestPage } from "../../wire/openapi/request-answers.ts";
import type { Accounts } from "../accounts/index.ts";
import { histogramOf } from "./request-histogram.ts";
import type { RequestFilter, RequestHistory } from "./request-history.ts";
import { visibilityOf } from "./visibility.ts";

/** Streams that one project, or the administrators of one organization, may keep open: each reads the database every second. */
const MAX_STREAMS = 16;

export const REPORT = { tag: "Reports", permission: "admin-or-project", requires: "signed-in" } as const;

/** Decides whether a caller may read messages of upstreams, which name hosts and files of the installation. */
export async function showsCauses(
  { organizations }: Accounts,
  { caller }: Pick<FastifyRequest, "caller">,
): Promise<boolean> {
  const isReader = caller.kind === "admin" && allows(caller.access, "organization.read");
  return isReader && organizations.isDefault(caller.organizationId);
}

/** GET /v1/organization/requests, newest first; `stream=true` follows new ones. A project key sees its own project. */
export function requests(history: RequestHistory, accounts: Accounts, stopping: AbortSignal): FastifyPluginAsync {
  const streams = new OpenStreams(MAX_STREAMS, "read pages instead");
  return routes(
    operation(
      "GET /requests",
      {
        summary:
          "Lists the metadata of single requests, newest first, or by `sort_by`; `?stream=true` follows new ones. A project key lists its own project. Not in OpenAI's API.",
        ...REPORT,
        query: RequestListQuery,
        answer: RequestPage,
        content: ["text/event-stream"],
        events: RequestEntry,
      },
      async ({ query, caller, request, reply }) => {
        const filter = filterOf(request, toRequestFilter(query));
        const maySee = await showsCauses(accounts, request);
        const order = toRequestOrder(query);
        if (order !== undefined) {
          const after = toSortedPosition(query.page);
          return toRequestPage(
            await history.listSorted(filter, order, after, query.limit, disconnection(reply)),
            maySee,
          );
        }
        if (query.stream !== true) {
          return toRequestPage(await history.list(filter, toPosition(query.page), query.limit), maySee);
        }
        streams.count(reply);
        const entries = history.follow(filter, AbortSignal.any([disconnection(reply), stopping]));
        // The client that connects again sees what it may see then.
        const sight = await sightOf(accounts, caller);
        const hasSameSight = async (caller: Caller) => (await sightOf(accounts, caller)) === sight;
        return sendEvents(reply, whileAllowed(request, accounts, frames(entries, maySee), hasSameSight));
      },
    ),
    operation(
      "GET /requests/histogram",
      {
        summary: "Counts requests and errors by time, with the filters of the list. Not in OpenAI's API.",
        ...REPORT,
        query: RequestHistogramQuery,
        answer: RequestHistogram,
      },
      async ({ query, request, reply }) => {
        const { from, until } = toHistogramRange(query);
        const filter = filterOf(request, toRequestFilter(query));
        return toRequestHistogram(
          await histogramOf(history, filter, { from, until, buckets: query.buckets }, disconnection(reply)),
        );
      },
    ),
  );
}

/** Renders the entries of a stream, which are undefined while there are none. */
async function* frames(entries: ReturnType<RequestHistory["follow"]>, maySee: boolean): AsyncGenerator<string> {
  for await (const entry of entries) yield toRequestFrame(entry, maySee);
}

/** Describes what a caller may see of requests. */
async function sightOf(accounts: Accounts, caller: Caller): Promise<string> {
  const visibility = visibilityOf(caller);
  const projectIds = visibility?.projectIds.toSorted();
  return JSON.stringify([projectIds, visibility?.userId, await showsCauses(accounts, { caller })]);
}

export function filterOf(request: FastifyRequest, filter: Omit<RequestFilter, "organizationId">): RequestFilter {
  return { ...filter, organizationId: request.caller.organizationId, visibility: visibilityOf(request.caller) };
}
