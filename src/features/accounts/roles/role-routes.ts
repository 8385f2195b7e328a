import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../../contracts/caller.ts";
import { operation, type PathParams, type RouteAdder, routes } from "../../../http/operation.ts";
import { pageOfRows } from "../../../storage/page.ts";
import { toCursorBody } from "../../../wire/openai/organization/organization-groups.ts";
import { toDeleted } from "../../../wire/openai/organization/organization-list.ts";
import {
  RoleCreateBody,
  RoleListQuery,
  RoleUpdateBody,
  toRole,
} from "../../../wire/openai/organization/organization-roles.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { Role, RoleList } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import type { RoleScope } from "./find-role.ts";
import { authorOf } from "./may-grant.ts";

/** /v1/organization/roles */
export function organizationRoles(accounts: Accounts): FastifyPluginAsync {
  return routes(...serve("/roles", "organization", accounts));
}

/** /v1/projects/{project}/roles */
export function projectRoles(accounts: Accounts): FastifyPluginAsync {
  return routes(...serve("/:project/roles", "project", accounts));
}

function serve(
  path: "/roles" | "/:project/roles",
  owner: "organization" | "project",
  { roles }: Accounts,
): RouteAdder[] {
  const common = { tag: "People", permission: "admin" } as const;
  const read = { ...common, requires: `${owner}.roles.read` } as const;
  const write = { ...common, requires: `${owner}.roles.write` } as const;

  return [
    operation(
      `GET ${path}`,
      {
        ...read,
        summary: `Lists the roles of ${owner === "project" ? "a project" : "the organization"}: built-in ones, then custom ones.`,
        query: RoleListQuery,
        answer: RoleList,
      },
      async ({ query: { order, ...page }, caller, params }) => {
        const list = await roles.list(scopeOf(caller, params));
        return toCursorBody(pageOfRows(order === "asc" ? list : list.toReversed(), page), toRole, ({ id }) => id);
      },
    ),
    operation(
      `POST ${path}`,
      {
        grants: "access",
        ...write,
        summary: "Creates a custom role. Nobody can put permissions into it that they do not have.",
        body: RoleCreateBody,
        answer: Role,
      },
      async ({ body, request, caller, params }) => {
        const { role_name: name, permissions, description } = body;
        return toRole(
          await roles.create(authorOf(request), scopeOf(caller, params), { name, permissions, description }),
        );
      },
    ),
    operation(
      `GET ${path}/:role`,
      { ...read, summary: "Retrieves a role.", answer: Role },
      async ({ params, caller }) => toRole(await roles.retrieve(scopeOf(caller, params), params.role)),
    ),
    operation(
      `POST ${path}/:role`,
      { grants: "access", ...write, summary: "Changes a custom role.", body: RoleUpdateBody, answer: Role },
      async ({ params, body, request, caller }) => {
        const change = {
          name: body.role_name ?? undefined,
          permissions: body.permissions ?? undefined,
          description: body.description,
        };
        return toRole(await roles.update(authorOf(request), scopeOf(caller, params), params.role, change));
      },
    ),
    operation(
      `DELETE ${path}/:role`,
      {
        grants: "access",
        ...write,
        summary: "Deletes a custom role and its assignments.",
        answer: deleted("role.deleted"),
      },
      async ({ params, request, caller }) => {
        await roles.delete(authorOf(request), scopeOf(caller, params), params.role);
        return toDeleted("role", params.role);
      },
    ),
  ];
}

export function scopeOf({ organizationId }: Caller, { project }: PathParams): RoleScope {
  return { organizationId, projectId: project };
}
