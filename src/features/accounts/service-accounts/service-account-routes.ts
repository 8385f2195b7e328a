import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  ServiceAccountCreateBody,
  ServiceAccountListQuery,
  ServiceAccountUpdateBody,
  toCreatedServiceAccount,
  toFirstKey,
  toServiceAccount,
} from "../../../wire/openai/organization/organization-service-accounts.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import {
  CreatedServiceAccount,
  ServiceAccount,
  ServiceAccountList,
} from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import { projectOf } from "../projects/project-routes.ts";
import { authorOf } from "../roles/may-grant.ts";

export interface OfServiceAccount {
  Params: { project: string; account: string };
}

/** /v1/organization/projects/{project}/service_accounts */
export function serviceAccounts(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "POST /projects/:project/service_accounts",
      {
        grants: "credential",
        summary: "Creates a service account with its first key, shown once.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.write",
        body: ServiceAccountCreateBody,
        answer: CreatedServiceAccount,
      },
      async ({ body, request }) => {
        const values = { name: body.name, key: toFirstKey(body) };
        const { account, key } = await accounts.serviceAccounts.create(authorOf(request), projectOf(request), values);
        return toCreatedServiceAccount(account, key);
      },
    ),
    operation(
      "GET /projects/:project/service_accounts",
      {
        summary: "Lists the service accounts of a project.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.read",
        query: ServiceAccountListQuery,
        answer: ServiceAccountList,
      },
      async ({ query, request }) => {
        const page = query;
        const serviceAccounts = await accounts.serviceAccounts.list(projectOf(request), { ...page, order: "asc" });
        return toListBody(serviceAccounts, toServiceAccount);
      },
    ),
    operation(
      "GET /projects/:project/service_accounts/:account",
      {
        summary: "Retrieves a service account.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.read",
        answer: ServiceAccount,
      },
      async ({ request }) => {
        return toServiceAccount(await accounts.serviceAccounts.retrieve(serviceAccountOf(request)));
      },
    ),
    operation(
      "POST /projects/:project/service_accounts/:account",
      {
        summary: "Updates a service account.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.write",
        body: ServiceAccountUpdateBody,
        answer: ServiceAccount,
      },
      async ({ body, request }) => {
        const account = serviceAccountOf(request);
        return toServiceAccount(await accounts.serviceAccounts.update(actorOf(request), account, body));
      },
    ),
    operation(
      "DELETE /projects/:project/service_accounts/:account",
      {
        summary: "Deletes a service account and its keys.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.write",
        answer: deleted("organization.project.service_account.deleted"),
      },
      async ({ request }) => {
        const account = serviceAccountOf(request);
        await accounts.serviceAccounts.delete(actorOf(request), account);
        return toDeleted("organization.project.service_account", account.id);
      },
    ),
  );
}

function serviceAccountOf(request: FastifyRequest<OfServiceAccount>) {
  const { project, account } = request.params;
  return { organizationId: request.caller.organizationId, projectId: project, id: account };
}
