import type { FastifyPluginAsync } from "fastify";
import type { RolePermission } from "../../../contracts/permissions.ts";
import { operation, type PathParams, type RouteAdder, routes } from "../../../http/operation.ts";
import { pageOfRows } from "../../../storage/page.ts";
import { toCursorBody } from "../../../wire/openai/organization/organization-groups.ts";
import {
  AssignRoleBody,
  RoleListQuery,
  toAssignedRole,
  toGroupRole,
  toRole,
} from "../../../wire/openai/organization/organization-roles.ts";
import { toUser } from "../../../wire/openai/organization/organization-users.ts";
import { removed } from "../../../wire/openapi/list-answers.ts";
import { AssignedRole, AssignedRoleList, GroupRole, UserRole } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import type { PrincipalReference } from "./find-access.ts";
import { authorOf } from "./may-grant.ts";
import { scopeOf } from "./role-routes.ts";

interface Place {
  path: "/users/:user/roles" | "/groups/:group/roles" | "/:project/users/:user/roles" | "/:project/groups/:group/roles";
  type: "user" | "group";
  where: string;
  read: RolePermission;
  write: RolePermission;
}

/** /v1/organization/{users,groups}/{id}/roles */
export function organizationAssignments(accounts: Accounts): FastifyPluginAsync {
  const where = "in the organization";
  const ofUsers = { read: "organization.users.read", write: "organization.users.write" } as const;
  const ofGroups = { read: "organization.groups.read", write: "organization.groups.write" } as const;
  return routes(
    ...serve(accounts, { path: "/users/:user/roles", type: "user", where, ...ofUsers }),
    ...serve(accounts, { path: "/groups/:group/roles", type: "group", where, ...ofGroups }),
  );
}

/** /v1/projects/{project}/{users,groups}/{id}/roles */
export function projectAssignments(accounts: Accounts): FastifyPluginAsync {
  const common = { where: "in a project", read: "project.members.read", write: "project.members.write" } as const;
  return routes(
    ...serve(accounts, { path: "/:project/users/:user/roles", type: "user", ...common }),
    ...serve(accounts, { path: "/:project/groups/:group/roles", type: "group", ...common }),
  );
}

function serve(accounts: Accounts, { path, type, where, read, write }: Place): RouteAdder[] {
  const { roleAssignments } = accounts;
  const common = { tag: "People", permission: "admin" } as const;
  const reading = { ...common, requires: read, ...(type === "user" && { requiresOfSelf: "signed-in" as const }) };
  const writing = { ...common, requires: write };

  return [
    operation(
      `GET ${path}`,
      {
        ...reading,
        summary: `Lists the roles of a ${type} ${where}${type === "user" ? ", with the groups that they come from" : ""}.`,
        query: RoleListQuery,
        answer: AssignedRoleList,
      },
      async ({ params, query: { order, ...page }, caller }) => {
        const assigned = await roleAssignments.list(scopeOf(caller, params), principalOf(type, params));
        const rows = assigned.map((each) => ({ ...each, id: each.role.id }));
        return toCursorBody(
          pageOfRows(order === "asc" ? rows : rows.toReversed(), page),
          toAssignedRole,
          ({ id }) => id,
        );
      },
    ),
    operation(
      `POST ${path}`,
      {
        grants: "access",
        ...writing,
        summary: `Assigns a role to a ${type} ${where}. Nobody can assign permissions that they do not have.`,
        body: AssignRoleBody,
        answer: type === "user" ? UserRole : GroupRole,
      },
      async ({ params, body: { role_id }, caller, request }) => {
        const reference = principalOf(type, params);
        const { principal, role } = await roleAssignments.assign(
          authorOf(request),
          scopeOf(caller, params),
          reference,
          role_id,
        );
        if (principal.type === "group") return toGroupRole(principal.group, role);
        const { organizationId } = caller;
        const user = await accounts.users.retrieve({ organizationId, id: principal.user.id });
        return { object: "user.role" as const, user: toUser(user), role: toRole(role) };
      },
    ),
    operation(
      `GET ${path}/:role`,
      { ...reading, summary: `Retrieves a role that a ${type} has ${where}.`, answer: AssignedRole },
      async ({ params, caller }) => {
        const reference = principalOf(type, params);
        return toAssignedRole(await roleAssignments.retrieve(scopeOf(caller, params), reference, params.role));
      },
    ),
    operation(
      `DELETE ${path}/:role`,
      {
        grants: "access",
        ...writing,
        summary: `Takes a role from a ${type} ${where}.`,
        answer: removed(`${type}.role.deleted`),
      },
      async ({ params, request, caller }) => {
        const reference = principalOf(type, params);
        await roleAssignments.unassign(authorOf(request), scopeOf(caller, params), reference, params.role);
        return { object: `${type}.role.deleted`, deleted: true };
      },
    ),
  ];
}

function principalOf(type: "user" | "group", { user, group }: PathParams): PrincipalReference {
  return { type, id: (type === "user" ? user : group) ?? "" };
}
