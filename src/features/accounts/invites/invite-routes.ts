import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  InviteCreateBody,
  InviteListQuery,
  toCreatedInvite,
  toInvite,
} from "../../../wire/openai/organization/organization-users.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { CreatedInvite, InviteList, Invite as InviteSchema } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import { builtInRole } from "../roles/built-in-roles.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { Invite } from "./invites.ts";

/** /v1/organization/invites */
export function invites(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /invites",
      {
        summary: "Lists the invites, newest first.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        query: InviteListQuery,
        answer: InviteList,
      },
      async ({ query, caller }) => {
        const page = { ...query, order: "desc" } as const;
        const now = Date.now();
        const list = await accounts.invites.list(caller.organizationId, page);
        return toListBody(list, (invite) => toInvite(toShown(invite), now));
      },
    ),
    operation(
      "POST /invites",
      {
        grants: "credential",
        summary:
          "Invites a person to the organization and its projects. The token is shown once, and sent to the person where `mail` is configured.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.write",
        body: InviteCreateBody,
        answer: CreatedInvite,
      },
      async ({ body: { email, role, projects = [], expires_in_seconds }, caller, request }) => {
        const { organizationId } = caller;
        const newInvite = { organizationId, email, role, projects, expiresInSeconds: expires_in_seconds };
        const { invite, token } = await accounts.invites.create(authorOf(request), newInvite);
        return toCreatedInvite(toShown(invite), token, Date.now());
      },
    ),
    operation(
      "GET /invites/:invite",
      {
        summary: "Retrieves an invite.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        answer: InviteSchema,
      },
      async ({ params, caller }) => {
        const { organizationId } = caller;
        const invite = await accounts.invites.retrieve({ organizationId, id: params.invite });
        return toInvite(toShown(invite), Date.now());
      },
    ),
    operation(
      "DELETE /invites/:invite",
      {
        summary: "Withdraws an invite that was not accepted.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.write",
        answer: deleted("organization.invite.deleted"),
      },
      async ({ params, caller, request }) => {
        const { organizationId } = caller;
        const { invite } = params;
        await accounts.invites.delete(authorOf(request), { organizationId, id: invite });
        return toDeleted("organization.invite", invite);
      },
    ),
  );
}

/** Shows built-in roles by name, as OpenAI does, and custom ones by ID. */
function toShown(invite: Invite) {
  const projects = invite.projects.map(({ id, roleId }) => ({ id, role: builtInRole(roleId)?.name ?? roleId }));
  return { ...invite, projects };
}
