import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  OrganizationCreateBody,
  toCreatedOrganization,
  toOrganization,
  toOrganizationList,
  toOwnOrganization,
} from "../../../wire/openai/organization/organizations.ts";
import {
  CreatedOrganization,
  Organization,
  OrganizationList,
  OwnOrganization,
} from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";

/** /v1/organizations, for the operator */
export function organizations(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "POST ",
      {
        grants: "credential",
        summary: "Creates an organization with its first admin key, shown once. Not in OpenAI's API.",
        tag: "Organization",
        permission: "operator",
        body: OrganizationCreateBody,
        answer: CreatedOrganization,
      },
      async ({ body: { name }, request }) => {
        return toCreatedOrganization(await accounts.organizations.create(actorOf(request), name));
      },
    ),
    operation(
      "GET ",
      {
        summary: "Lists all organizations, oldest first, including archived ones. Not in OpenAI's API.",
        tag: "Organization",
        permission: "operator",
        answer: OrganizationList,
      },
      async () => toOrganizationList(await accounts.organizations.list()),
    ),
    operation(
      "POST /:organization/archive",
      {
        summary: "Archives an organization with its projects and stops its keys. Not in OpenAI's API.",
        tag: "Organization",
        permission: "operator",
        answer: Organization,
      },
      async ({ params, request }) => {
        const { organization } = params;
        return toOrganization(await accounts.organizations.archive(actorOf(request), organization));
      },
    ),
  );
}

/** GET /v1/organization */
export function ownOrganization(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET ",
      {
        summary: "Retrieves the organization of the key, with its default project. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "signed-in",
        answer: OwnOrganization,
      },
      async ({ caller: { organizationId } }) =>
        toOwnOrganization(
          await accounts.organizations.retrieve(organizationId),
          await accounts.projects.findDefault(organizationId),
        ),
    ),
  );
}
