import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { toErasure, toExportLines } from "../../wire/openai/organization/organization-privacy.ts";
import { Erasure, PersonalDataLine } from "../../wire/openapi/people-answers.ts";
import { authorOf } from "../accounts/index.ts";
import type { ExportedRow, Privacy } from "./privacy.ts";

interface OfUser {
  Params: { user: string };
}

/** /v1/organization/users/{user}/export and /erase, and those of end users */
export function privacy(service: Privacy): FastifyPluginAsync {
  return routes(
    operation(
      "GET /users/:user/export",
      {
        summary:
          "Exports everything that is stored of a user as JSON Lines, one for each row; every user may export their own. The last line counts them. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.data",
        requiresOfSelf: "signed-in",
        content: ["application/x-ndjson"],
        events: PersonalDataLine,
      },
      async ({ request, reply }) => sendExport(reply, await service.exportUser(authorOf(request), userOf(request))),
    ),
    operation(
      "POST /users/:user/erase",
      {
        grants: "access",
        summary:
          "Erases everything that is stored of a user, with the user's keys and sessions. Sums of usage remain, under a pseudonym. It cannot be undone. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.data",
        answer: Erasure,
      },
      async ({ request }) => toErasure(await service.eraseUser(authorOf(request), userOf(request))),
    ),
    operation(
      "GET /end_users/:end_user/export",
      {
        summary:
          "Exports what is stored of an end user, named as in `safety_identifier` or `user` of requests, as JSON Lines. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.data",
        content: ["application/x-ndjson"],
        events: PersonalDataLine,
      },
      async ({ params, caller, request, reply }) => {
        const { organizationId } = caller;
        return sendExport(reply, await service.exportEndUser(authorOf(request), organizationId, params.end_user));
      },
    ),
    operation(
      "POST /end_users/:end_user/erase",
      {
        summary:
          "Erases what is stored of an end user. Sums of usage remain, under a pseudonym. It cannot be undone. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.data",
        answer: Erasure,
      },
      async ({ params, caller, request }) => {
        const { organizationId } = caller;
        return toErasure(await service.eraseEndUser(authorOf(request), organizationId, params.end_user));
      },
    ),
  );
}

function userOf(request: FastifyRequest<OfUser>) {
  return { organizationId: request.caller.organizationId, id: request.params.user };
}

function sendExport(reply: FastifyReply, rows: AsyncIterable<ExportedRow>): FastifyReply {
  reply.header("content-disposition", `attachment; filename="personal-data.jsonl"`);
  return sendBytes(reply, "application/x-ndjson", toExportLines(rows, Date.now()));
}
