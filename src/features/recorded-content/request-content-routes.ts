import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { allows } from "../../http/access.ts";
import { disconnection } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  FeedbackBody,
  includesContent,
  RequestDetailsQuery,
  RequestSearchQuery,
  toFeedback,
  toRequestDetails,
  toSearchPosition,
} from "../../wire/openai/organization/organization-request-content.ts";
import { toRequestFilter } from "../../wire/openai/organization/organization-requests.ts";
import { toRequestEntry } from "../../wire/openai/organization/request-entries.ts";
import { RequestExportLine, RequestExportQuery } from "../../wire/openai/organization/request-export.ts";
import { RequestDetails, RequestFeedback, RequestPage } from "../../wire/openapi/request-answers.ts";
import { type Accounts, actorOf } from "../accounts/index.ts";
import { filterOf, REPORT, type RequestFilter, type RequestHistory, showsCauses } from "../usage/index.ts";
import { auditLook, mayNotRead, mayReadContent, readableProjects } from "./content-access.ts";
import type { RecordedContents } from "./recorded-contents.ts";
import { exportRequests } from "./request-export.ts";
import type { RequestFeedbacks } from "./request-feedback.ts";

interface OfRequest {
  Params: { id: string };
}

export interface RequestContentParts {
  accounts: Accounts;
  history: RequestHistory;
  /** Undefined: nothing is recorded here. */
  recorded: RecordedContents | undefined;
  feedback: RequestFeedbacks;
}

/** Single requests with their content, search in it, and feedback. */
export function requestContent({ accounts, history, recorded, feedback }: RequestContentParts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /requests/search",
      {
        summary:
          "Finds requests by words of their recorded prompts and answers, newest first, with the filters of the list. The audit log says who searched. Not in OpenAI's API.",
        ...REPORT,
        query: RequestSearchQuery,
        answer: RequestPage,
      },
      async ({ query: { query: text, page, limit, ...filters }, caller, request, reply }) => {
        const filter = contentFilter(request, toRequestFilter(filters));
        const position = toSearchPosition(page);
        if (position === undefined) {
          const { organizationId: resourceId } = caller;
          await auditLook(accounts, request, "request.content.searched", { resourceId });
        }
        const signal = disconnection(reply);
        const matches = await recorded?.search(filter, text, { after: position, limit, signal });
        const maySee = await showsCauses(accounts, request);
        return {
          object: "page" as const,
          data: (matches?.entries ?? []).map((entry) => toRequestEntry(entry, maySee)),
          has_more: matches?.next !== undefined,
          next_page: matches?.next === undefined ? null : `page_${matches.next}`,
        };
      },
    ),
    operation(
      "GET /requests/export",
      {
        summary:
          "Exports recorded requests as JSON Lines, oldest first, for fine-tuning or evaluations, with the filters of the list. The audit log says who exported. Not in OpenAI's API.",
        ...REPORT,
        query: RequestExportQuery,
        content: ["application/x-ndjson"],
        events: RequestExportLine,
      },
      async ({ query: { format, min_score, query, ...filters }, caller, request, reply }) => {
        const filter = contentFilter(request, toRequestFilter(filters));
        if (recorded === undefined) throw notRecorded();
        const lines = exportRequests(recorded, feedback, filter, { format, min_score, query }, disconnection(reply));
        const { organizationId: resourceId } = caller;
        await auditLook(accounts, request, "request.content.exported", { resourceId, details: { format } });
        reply.header("content-disposition", `attachment; filename="requests.jsonl"`);
        return sendBytes(reply, "application/x-ndjson", lines);
      },
    ),
    operation(
      "GET /requests/:id",
      {
        summary:
          "Retrieves one request: its timing, attempts, tokens, cost and feedback; with `include[]=content` its recorded prompt and answer, which the audit log notes. Not in OpenAI's API.",
        ...REPORT,
        query: RequestDetailsQuery,
        answer: RequestDetails,
      },
      async ({ params, query, caller, request }) => {
        const { id } = params;
        const isAsked = includesContent(query);
        const entry = await findEntry(request);
        const { projectId } = entry;
        const mayRead = mayReadContent(caller, projectId);
        if (isAsked && !mayRead) throw mayNotRead();
        const isRecorded = mayRead && recorded !== undefined && (await recorded.has(id));
        if (isAsked && isRecorded) {
          await auditLook(accounts, request, "request.content.read", { resourceId: id, projectId });
        }
        const content = isRecorded && isAsked ? await recorded.find(entry.organizationId, id) : undefined;
        return toRequestDetails(entry, await showsCauses(accounts, request), {
          isRecorded,
          ...(isAsked && { content: content ?? null }),
          feedback: await feedback.list(entry.organizationId, [id]),
        });
      },
    ),
    operation(
      "POST /requests/:id/feedback",
      {
        summary:
          "Rates a request: a score, a comment and tags, in place of what the same key or user said before. Users need `project.inference` in its project. Also with a key of the project. Not in OpenAI's API.",
        ...REPORT,
        body: FeedbackBody,
        answer: RequestFeedback,
      },
      async ({ body: { score = null, comment = null, tags = [] }, caller, request }) => {
        const entry = await findEntry(request);
        if (!allows(caller.access, "project.inference", entry.projectId)) throw mayNotRate();
        await accounts.transactions.checkAuthor(actorOf(request));
        return toFeedback(await feedback.put(entry, caller, { score, comment, tags }));
      },
    ),
  );

  /** Finds the entry in the history, or with the content, which may be kept for more days. Throws a Fault. */
  async function findEntry(request: FastifyRequest<OfRequest>): Promise<RequestEntry> {
    const { id } = request.params;
    const filter = filterOf(request, {});
    const entry = await history.find(filter, id);
    if (entry !== undefined) return entry;
    const stored = (await recorded?.find(filter.organizationId, id))?.entry;
    const projects = filter.visibility?.projectIds;
    if (stored !== undefined && (projects === undefined || projects.includes(stored.projectId))) return stored;
    throw notFound(id);
  }
}

/** The filter within the projects whose content the caller may read. Throws a Fault for a caller without any. */
function contentFilter(request: FastifyRequest, filter: Omit<RequestFilter, "organizationId">): RequestFilter {
  const readable = readableProjects(request.caller);
  const { projectIds } = filter;
  const allowed = readable === undefined ? projectIds : readable.filter((id) => projectIds?.includes(id) ?? true);
  return { ...filter, organizationId: request.caller.organizationId, projectIds: allowed };
}

function mayNotRate(): Fault {
  const message =
    "Feedback needs the permission `project.inference` in the request's project. Ask an owner for a role.";
  return new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function notRecorded(): Fault {
  const message = "Nothing is recorded here, because there is no encryption key: set PARLANCE_ENCRYPTION_KEY.";
  return new Fault("not-found", message, { code: "storage_disabled" });
}

function notFound(id: string): Fault {
  const message = `No request has the ID \`${id.slice(0, 100)}\`. Entries are removed after \`usage.request_days\` days.`;
  return new Fault("not-found", message, { code: "not_found" });
}
