import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, type RouteAdder, routes } from "../../http/operation.ts";
import {
  SpendLimitBody,
  type SpendLimitOwnerKind,
  toSpendLimit,
  toSpendLimitDeleted,
} from "../../wire/openai/organization/organization-spend-limits.ts";
import { removed } from "../../wire/openapi/list-answers.ts";
import { spendLimit } from "../../wire/openapi/project-policy-answers.ts";
import { type Accounts, actorOf } from "../accounts/index.ts";
import { SpendLimitService } from "./spend-limit-service.ts";

interface OfOwner {
  Params: { project?: string; key?: string };
}

/** `spend_limit` of the organization, of a project and, not in OpenAI's API, of a project's key */
export function spendLimits(accounts: Accounts): FastifyPluginAsync {
  return routes(
    ...serve("/spend_limit", "organization", accounts),
    ...serve("/projects/:project/spend_limit", "project", accounts),
    ...serve("/projects/:project/api_keys/:key/spend_limit", "api_key", accounts),
  );
}

const TEXTS = {
  organization: {
    tag: "Organization",
    name: "the organization's",
    remark: "",
    read: "organization.read",
    write: "organization.write",
  },
  project: {
    tag: "Projects",
    name: "a project's",
    remark: "",
    read: "project.read",
    write: "project.limits.write",
  },
  api_key: {
    tag: "Projects",
    name: "a key's",
    remark: " Not in OpenAI's API.",
    read: "project.keys.read",
    write: "project.limits.write",
  },
} as const;

function serve(path: string, owner: SpendLimitOwnerKind, { transactions }: Accounts): RouteAdder[] {
  const limits = new SpendLimitService(transactions);
  const { tag, name, remark, read, write } = TEXTS[owner];
  const definition = { tag, permission: "admin", answer: spendLimit(owner) } as const;

  return [
    operation(
      `GET ${path}`,
      { ...definition, requires: read, summary: `Retrieves ${name} monthly spend limit.${remark}` },
      async ({ request }) => toSpendLimit(owner, await limits.retrieve(ownerOf(request))),
    ),
    operation(
      `POST ${path}`,
      {
        ...definition,
        requires: write,
        summary: `Sets ${name} monthly spend limit.${remark}`,
        body: SpendLimitBody,
      },
      async ({ body, request }) => {
        const isEnforcing = body.enforcement?.status !== "inactive";
        const change = { thresholdCents: body.threshold_amount, isEnforcing };
        return toSpendLimit(owner, await limits.replace(actorOf(request), ownerOf(request), change));
      },
    ),
    operation(
      `DELETE ${path}`,
      {
        ...definition,
        requires: write,
        summary: `Removes ${name} spend limit.${remark}`,
        answer: removed(`${owner}.spend_limit.deleted`),
      },
      async ({ request }) => {
        return toSpendLimitDeleted(owner, await limits.remove(actorOf(request), ownerOf(request)));
      },
    ),
  ];
}

function ownerOf(request: FastifyRequest<OfOwner>) {
  const { project, key } = request.params;
  return { organizationId: request.caller.organizationId, projectId: project, keyId: key };
}
