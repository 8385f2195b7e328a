import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { acceptAnyJsonType } from "../../http/json-body.ts";
import { operation, rawOperation, routes } from "../../http/operation.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { AnswerOf } from "../../wire/openapi/named.ts";
import { GROUP_TYPE, USER_TYPE } from "../../wire/scim/attributes.ts";
import {
  type ListRequest,
  readListRequest,
  readSearch,
  readSelection,
  ScimListQuery,
  ScimPatchBody,
  ScimSearchBody,
  ScimSelectionQuery,
  select,
  toScimList,
} from "../../wire/scim/resources.ts";
import { ScimBody, ScimList, ScimResource } from "../../wire/scim/scim-answers.ts";
import { SCIM_MEDIA_TYPE } from "../../wire/scim/scim-error.ts";
import { readPatch } from "../../wire/scim/scim-patch.ts";
import { type Accounts, authorOf } from "../accounts/index.ts";
import type { Providers } from "../sign-on/index.ts";
import { hasVersion } from "./check-version.ts";
import { discovery } from "./discovery-routes.ts";
import { ScimGroups } from "./scim-groups.ts";
import { listResources, type ResourceSource } from "./scim-list.ts";
import { baseOf, SCIM_OPERATION } from "./scim-operation.ts";
import { ScimUsers, type ScimWrite } from "./scim-users.ts";

type Resource = AnswerOf<typeof ScimResource>;

/** /scim/v2 */
export function scim(accounts: Accounts, providers: Providers): FastifyPluginAsync {
  const users = new ScimUsers(accounts.transactions, providers);
  const groups = new ScimGroups(accounts.transactions);
  return routes(
    acceptAnyJsonType,
    (app) =>
      app.addHook("onSend", async (_request, reply, payload) => {
        if (payload != null && payload !== "") reply.type(`${SCIM_MEDIA_TYPE}; charset=utf-8`);
        return payload;
      }),
    (app) => app.register(discovery),
    operation(
      "POST /.search",
      {
        ...SCIM_OPERATION,
        summary: "Searches users and groups.",
        body: ScimSearchBody,
        isBodyOptional: true,
        answer: ScimList,
      },
      async ({ body, request }) => {
        const search = readSearch(body);
        return listTogether([usersOf(request), groupsOf(request, search)], search);
      },
    ),
    ...resources(USER_TYPE, users, usersOf),
    ...resources(GROUP_TYPE, groups, groupsOf),
    rawOperation(
      "PATCH /Users/:id",
      {
        grants: "access",
        ...SCIM_OPERATION,
        summary: "Changes a user; `active` false ends the user's sessions and keys. The last owner stays active.",
        query: ScimSelectionQuery,
        body: ScimPatchBody,
        answer: ScimResource,
      },
      async (request, reply) =>
        send(request, reply, await users.patch(writeOf(request), request.params.id, readPatch(request.body))),
    ),
    rawOperation(
      "PATCH /Groups/:id",
      {
        grants: "access",
        ...SCIM_OPERATION,
        summary: "Changes a group. Answers without a body, unless `attributes` asks for one.",
        hasEmptyAnswer: true,
        query: ScimSelectionQuery,
        body: ScimPatchBody,
        answer: ScimResource,
      },
      async (request, reply) => {
        const { id } = request.params;
        await groups.patch(writeOf(request), id, readPatch(request.body));
        const selection = readSelection(parse(ScimSelectionQuery, request.query));
        // A group can have thousands of members.
        if (selection.attributes === undefined) return reply.code(204).send();
        const { organizationId } = request.caller;
        return send(request, reply, await groups.retrieve({ organizationId, id }, baseOf(request), selection));
      },
    ),
  );

  function resources(
    { name, endpoint }: typeof USER_TYPE | typeof GROUP_TYPE,
    service: ScimUsers | ScimGroups,
    sourceOf: (request: FastifyRequest, list: ListRequest) => ResourceSource,
  ) {
    const what = name === "User" ? "user" : "group";
    return [
      operation(
        `GET ${endpoint}`,
        {
          ...SCIM_OPERATION,
          summary: `Lists the ${what}s, oldest first; takes a filter.`,
          query: ScimListQuery,
          answer: ScimList,
        },
        async ({ query, request }) => {
          const list = readListRequest(query);
          return listTogether([sourceOf(request, list)], list);
        },
      ),
      operation(
        `POST ${endpoint}/.search`,
        {
          ...SCIM_OPERATION,
          summary: `Searches the ${what}s.`,
          body: ScimSearchBody,
          isBodyOptional: true,
          answer: ScimList,
        },
        async ({ body, request }) => {
          const search = readSearch(body);
          return listTogether([sourceOf(request, search)], search);
        },
      ),
      rawOperation(
        `POST ${endpoint}`,
        {
          grants: "access",
          ...SCIM_OPERATION,
          summary:
            name === "User"
              ? "Adds a user, with the roles of a pending invite; takes over a user of this address whom nobody manages by SCIM."
              : "Adds a group.",
          query: ScimSelectionQuery,
          body: ScimBody,
          others: { 201: ScimResource },
        },
        async (request, reply) => {
          reply.code(201);
          return send(request, reply, await service.create(writeOf(request), request.body));
        },
      ),
      operation(
        `GET ${endpoint}/:id`,
        {
          ...SCIM_OPERATION,
          summary: `Retrieves a ${what}.`,
          query: ScimSelectionQuery,
          answer: ScimResource,
        },
        async ({ params, query, caller, request, reply }) => {
          const { organizationId } = caller;
          const selection = readSelection(query);
          const resource = await service.retrieve({ organizationId, id: params.id }, baseOf(request), selection);
          const versions = request.headers["if-none-match"];
          if (versions !== undefined && hasVersion(versions, resource)) return reply.code(304).send();
          return send(request, reply, resource);
        },
      ),
      rawOperation(
        `PUT ${endpoint}/:id`,
        {
          grants: "access",
          ...SCIM_OPERATION,
          summary: `Replaces a ${what}.`,
          query: ScimSelectionQuery,
          body: ScimBody,
          answer: ScimResource,
        },
        async (request, reply) =>
          send(request, reply, await service.replace(writeOf(request), request.params.id, request.body)),
      ),
      operation(
        `DELETE ${endpoint}/:id`,
        {
          grants: "access",
          ...SCIM_OPERATION,
          summary:
            name === "User"
              ? "Removes a user, and ends the user's sessions and keys. The last owner stays."
              : "Deletes a group and the roles that its members have by it.",
          hasEmptyAnswer: true,
        },
        async ({ params, request, reply }) => {
          await service.delete(writeOf(request), params.id);
          return reply.code(204).send();
        },
      ),
    ];
  }

  function usersOf(request: FastifyRequest): ResourceSource {
    return users.source(request.caller.organizationId, baseOf(request));
  }

  function groupsOf(request: FastifyRequest, { selection }: ListRequest): ResourceSource {
    return groups.source(request.caller.organizationId, baseOf(request), selection);
  }
}

function writeOf(request: FastifyRequest): ScimWrite {
  const { organizationId } = request.caller;
  const ifMatch = request.headers["if-match"];
  return { author: authorOf(request), organizationId, base: baseOf(request), ifMatch };
}

/** Sends a resource with its ETag and address. */
function send(request: FastifyRequest, reply: FastifyReply, resource: Resource): Resource {
  const selection = readSelection(parse(ScimSelectionQuery, request.query));
  const { version, location } = resource.meta ?? {};
  if (version !== undefined) reply.header("etag", version);
  if (reply.statusCode === 201 && location !== undefined) reply.header("location", location);
  return select(resource.meta?.resourceType === "Group" ? GROUP_TYPE : USER_TYPE, resource, selection);
}

/** Lists several sources, one after the other. */
async function listTogether(sources: readonly ResourceSource[], request: ListRequest) {
  const resources: Resource[] = [];
  let [total, offset] = [0, request.offset];
  for (const source of sources) {
    const listed = await listResources(source, { ...request, offset, count: request.count - resources.length });
    resources.push(...listed.resources);
    total += listed.total;
    offset = Math.max(0, offset - listed.total);
  }
  return toScimList(resources, total, request.offset);
}
