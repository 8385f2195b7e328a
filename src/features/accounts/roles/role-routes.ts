import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../../http/operation.ts";
import { pageOfRows } from "../../../storage/page.ts";
import { toCursorBody } from "../../../wire/openai/organization/organization-groups.ts";
import { toDeleted } from "../../../wire/openai/organization/organization-list.ts";
import {
  RoleCreateBody,
  RoleListQuery,
  RoleUpdateBody,
  toRole,
} from "../../../wire/openai/organization/organization-roles.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { deleted } from "../../../wire/openapi/organization-answers.ts";
import { Role, RoleList } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import type { RoleScope } from "./find-role.ts";
import { authorOf } from "./may-grant.ts";

interface OfScope {
  Params: { project?: string };
}

interface OfRole {
  Params: { project?: string; role: string };
}

/** /v1/organization/roles */
export function organizationRoles(accounts: Accounts): FastifyPluginAsync {
  return async (app) => serve(app, "/roles", "organization", accounts);
}

/** /v1/projects/{project}/roles */
export function projectRoles(accounts: Accounts): FastifyPluginAsync {
  return async (app) => serve(app, "/:project/roles", "project", accounts);
}

function serve(app: FastifyInstance, path: string, owner: "organization" | "project", { roles }: Accounts): void {
  const common = { tag: "People", permission: "admin" } as const;
  const read = { ...common, requires: `${owner}.roles.read` } as const;
  const write = { ...common, requires: `${owner}.roles.write` } as const;
  app.get<OfScope>(
    path,
    operation({
      ...read,
      summary: `Lists the roles of ${owner === "project" ? "a project" : "the organization"}: built-in ones, then custom ones.`,
      query: RoleListQuery,
      answer: RoleList,
    }),
    async (request) => {
      const { order, ...page } = parse(RoleListQuery, request.query);
      const list = await roles.list(scopeOf(request));
      return toCursorBody(pageOfRows(order === "asc" ? list : list.toReversed(), page), toRole, ({ id }) => id);
    },
  );

  app.post<OfScope>(
    path,
    operation({
      grants: "access",
      ...write,
      summary: "Creates a custom role. Nobody can put permissions into it that they do not have.",
      body: RoleCreateBody,
      answer: Role,
    }),
    async (request) => {
      const { role_name: name, permissions, description } = parse(RoleCreateBody, request.body);
      return toRole(await roles.create(authorOf(request), scopeOf(request), { name, permissions, description }));
    },
  );

  app.get<OfRole>(
    `${path}/:role`,
    operation({ ...read, summary: "Retrieves a role.", answer: Role }),
    async (request) => toRole(await roles.retrieve(scopeOf(request), request.params.role)),
  );

  app.post<OfRole>(
    `${path}/:role`,
    operation({ grants: "access", ...write, summary: "Changes a custom role.", body: RoleUpdateBody, answer: Role }),
    async (request) => {
      const body = parse(RoleUpdateBody, request.body);
      const change = {
        name: body.role_name ?? undefined,
        permissions: body.permissions ?? undefined,
        description: body.description,
      };
      return toRole(await roles.update(authorOf(request), scopeOf(request), request.params.role, change));
    },
  );

  app.delete<OfRole>(
    `${path}/:role`,
    operation({
      grants: "access",
      ...write,
      summary: "Deletes a custom role and its assignments.",
      answer: deleted("role.deleted"),
    }),
    async (request) => {
      await roles.delete(authorOf(request), scopeOf(request), request.params.role);
      return toDeleted("role", request.params.role);
    },
  );
}

export function scopeOf(request: FastifyRequest<OfScope>): RoleScope {
  return { organizationId: request.caller.organizationId, projectId: request.params.project };
}
