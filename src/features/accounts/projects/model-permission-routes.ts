import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, type RouteAdder, routes } from "../../../http/operation.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import {
  ModelPermissionsBody,
  toModelPermissions,
  toModelPermissionsDeleted,
} from "../../../wire/openai/organization/organization-model-permissions.ts";
import { removed } from "../../../wire/openapi/list-answers.ts";
import { modelPermissions as modelPermissionsAnswer } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";

/** Resolves an entry of a permission list (an ID, an alias, a wildcard, `group:…`) to its stored form; undefined for unknown entries. */
export type ResolveModel = (entry: string) => string | undefined;

interface OfProject {
  Params: { project?: string };
}

/** /v1/organization/projects/{project}/model_permissions and /v1/organization/model_permissions */
export function modelPermissions(accounts: Accounts, resolve: ResolveModel): FastifyPluginAsync {
  return routes(
    ...serve("/projects/:project/model_permissions", "project", accounts, resolve),
    ...serve("/model_permissions", "organization", accounts, resolve),
  );
}

const TEXTS = {
  organization: {
    tag: "Organization",
    name: "the organization",
    owner: "the organization's",
    remark: " Not in OpenAI's API.",
    read: "organization.read",
    write: "organization.write",
  },
  project: {
    tag: "Projects",
    name: "a project",
    owner: "a project's",
    remark: "",
    read: "project.read",
    write: "project.limits.write",
  },
} as const;

function serve(
  path: string,
  owner: "project" | "organization",
  accounts: Accounts,
  resolve: ResolveModel,
): RouteAdder[] {
  const { tag, name, owner: ownerName, remark, read, write } = TEXTS[owner];
  const definition = { tag, permission: "admin", answer: modelPermissionsAnswer(owner) } as const;

  return [
    operation(
      `GET ${path}`,
      { ...definition, requires: read, summary: `Retrieves which models ${name} may use.${remark}` },
      async ({ request }) => {
        return toModelPermissions(owner, await accounts.modelPermissions.retrieve(ownerOf(request)));
      },
    ),
    operation(
      `POST ${path}`,
      {
        ...definition,
        requires: write,
        summary: `Sets which models ${name} may use.${remark}`,
        body: ModelPermissionsBody,
      },
      async ({ body: { mode, model_ids }, request }) => {
        const permissions = { mode, modelIds: resolveAll(model_ids, resolve) };
        return toModelPermissions(
          owner,
          await accounts.modelPermissions.replace(actorOf(request), ownerOf(request), permissions),
        );
      },
    ),
    operation(
      `DELETE ${path}`,
      {
        ...definition,
        requires: write,
        summary: `Removes ${ownerName} model permissions.${remark}`,
        answer: removed(`${owner}.model_permissions.deleted`),
      },
      async ({ request }) => {
        return toModelPermissionsDeleted(
          owner,
          await accounts.modelPermissions.remove(actorOf(request), ownerOf(request)),
        );
      },
    ),
  ];
}

function ownerOf(request: FastifyRequest<OfProject>) {
  return { organizationId: request.caller.organizationId, projectId: request.params.project };
}

/** Throws a Fault for an unknown entry: a typo in a deny list would allow what it should deny. */
export function resolveAll(entries: readonly string[], resolve: ResolveModel): string[] {
  return entries.map((entry, index) => {
    const resolved = resolve(entry);
    if (resolved !== undefined) return resolved;
    const shown = JSON.stringify(entry);
    const message = `Invalid value for 'model_ids[${index}]': ${shown} is not a known model, wildcard or access group (\`group:…\`).`;
    throw invalidRequest(message, `model_ids[${index}]`, "invalid_value");
  });
}
