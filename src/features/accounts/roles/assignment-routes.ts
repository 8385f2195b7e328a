import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { RolePermission } from "../../../contracts/permissions.ts";
import { operation } from "../../../http/operation.ts";
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
import { parse } from "../../../wire/openai/validate.ts";
import { removed } from "../../../wire/openapi/organization-answers.ts";
import { AssignedRole, AssignedRoleList, GroupRole, UserRole } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import type { PrincipalReference } from "./assignments.ts";
import { authorOf } from "./may-grant.ts";
import { scopeOf } from "./role-routes.ts";

interface OfPrincipal {
  Params: { project?: string; user?: string; group?: string };
}

interface OfAssignment {
  Params: OfPrincipal["Params"] & { role: string };
}

interface Place {
  path: string;
  type: "user" | "group";
  where: string;
  read: RolePermission;
  write: RolePermission;
}

/** /v1/organization/{users,groups}/{id}/roles */
export function organizationAssignments(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    const where = "in the organization";
    const ofUsers = { read: "organization.users.read", write: "organization.users.write" } as const;
    const ofGroups = { read: "organization.groups.read", write: "organization.groups.write" } as const;
    serve(app, accounts, { path: "/users/:user/roles", type: "user", where, ...ofUsers });
    serve(app, accounts, { path: "/groups/:group/roles", type: "group", where, ...ofGroups });
  };
}

/** /v1/projects/{project}/{users,groups}/{id}/roles */
export function projectAssignments(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    const common = { where: "in a project", read: "project.members.read", write: "project.members.write" } as const;
    serve(app, accounts, { path: "/:project/users/:user/roles", type: "user", ...common });
    serve(app, accounts, { path: "/:project/groups/:group/roles", type: "group", ...common });
  };
}

function serve(app: FastifyInstance, accounts: Accounts, { path, type, where, read, write }: Place): void {
  const { roleAssignments } = accounts;
  const common = { tag: "People", permission: "admin" } as const;
  const reading = { ...common, requires: read, ...(type === "user" && { requiresOfSelf: "signed-in" as const }) };
  const writing = { ...common, requires: write };
  app.get<OfPrincipal>(
    path,
    operation({
      ...reading,
      summary: `Lists the roles of a ${type} ${where}${type === "user" ? ", with the groups that they come from" : ""}.`,
      query: RoleListQuery,
      answer: AssignedRoleList,
    }),
    async (request) => {
      const { order, ...page } = parse(RoleListQuery, request.query);
      const assigned = await roleAssignments.list(scopeOf(request), principalOf(type, request.params));
      const rows = assigned.map((each) => ({ ...each, id: each.role.id }));
      return toCursorBody(pageOfRows(order === "asc" ? rows : rows.toReversed(), page), toAssignedRole, ({ id }) => id);
    },
  );

  app.post<OfPrincipal>(
    path,
    operation({
      grants: "access",
      ...writing,
      summary: `Assigns a role to a ${type} ${where}. Nobody can assign permissions that they do not have.`,
      body: AssignRoleBody,
      answer: type === "user" ? UserRole : GroupRole,
    }),
    async (request) => {
      const { role_id } = parse(AssignRoleBody, request.body);
      const reference = principalOf(type, request.params);
      const { principal, role } = await roleAssignments.assign(authorOf(request), scopeOf(request), reference, role_id);
      if (principal.type === "group") return toGroupRole(principal.group, role);
      const { organizationId } = request.caller;
      const user = await accounts.users.retrieve({ organizationId, id: principal.user.id });
      return { object: "user.role" as const, user: toUser(user), role: toRole(role) };
    },
  );

  app.get<OfAssignment>(
    `${path}/:role`,
    operation({ ...reading, summary: `Retrieves a role that a ${type} has ${where}.`, answer: AssignedRole }),
    async (request) => {
      const reference = principalOf(type, request.params);
      return toAssignedRole(await roleAssignments.retrieve(scopeOf(request), reference, request.params.role));
    },
  );

  app.delete<OfAssignment>(
    `${path}/:role`,
    operation({
      grants: "access",
      ...writing,
      summary: `Takes a role from a ${type} ${where}.`,
      answer: removed(`${type}.role.deleted`),
    }),
    async (request) => {
      const reference = principalOf(type, request.params);
      await roleAssignments.unassign(authorOf(request), scopeOf(request), reference, request.params.role);
      return { object: `${type}.role.deleted`, deleted: true };
    },
  );
}

function principalOf(type: "user" | "group", { user, group }: OfPrincipal["Params"]): PrincipalReference {
  return { type, id: (type === "user" ? user : group) ?? "" };
}
