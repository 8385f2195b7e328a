import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { pageOfRows } from "../../storage/page.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  RateLimitBody,
  RateLimitListQuery,
  toLimitsChange,
  toRateLimit,
} from "../../wire/openai/organization/organization-rate-limits.ts";
import { RateLimit, RateLimitList } from "../../wire/openapi/project-policy-answers.ts";
import { type AccessedModel, type Accounts, actorOf, modelAccess, projectOf } from "../accounts/index.ts";
import { RateLimitService } from "./rate-limit-service.ts";

interface OfProject {
  Params: { project: string };
}

export interface LimitedModels {
  models: () => Iterable<AccessedModel>;
  /** Returns the ID of a model from its ID or alias. */
  resolve: (idOrAlias: string) => string | undefined;
  /** Configured limits of a model, for limits that are not set. */
  defaults: () => Readonly<Record<string, number | undefined>>;
}

/** /v1/organization/projects/{project}/rate_limits: one row per model that the project may use */
export function rateLimits(accounts: Accounts, { models, resolve, defaults }: LimitedModels): FastifyPluginAsync {
  const limits = new RateLimitService(accounts.transactions);
  const rowsOf = async (request: FastifyRequest<OfProject>) => {
    const project = projectOf(request);
    const { organizationId } = project;
    const [set, own, all] = await Promise.all([
      limits.list(project),
      accounts.modelPermissions.retrieve({ organizationId, projectId: project.id }),
      accounts.modelPermissions.retrieve({ organizationId, projectId: undefined }),
    ]);
    const mayUse = modelAccess([own, all].filter((each) => each !== undefined));
    return [...models()].filter(mayUse).map(({ id }) => {
      const changedLimits = Object.entries(set.find(({ model }) => model === id) ?? {}).filter(
        ([, value]) => value !== null,
      );
      return toRateLimit(project.id, id, { ...defaults(), ...Object.fromEntries(changedLimits) });
    });
  };

  return routes(
    operation(
      "GET /projects/:project/rate_limits",
      {
        summary: "Lists the rate limits of a project, one per model. A project key sees those of its own project.",
        tag: "Projects",
        permission: "admin-or-project",
        requires: "project.read",
        query: RateLimitListQuery,
        answer: RateLimitList,
      },
      async ({ params, query, caller, request }) => {
        const { projectId } = caller;
        const { project } = params;
        if (projectId !== undefined && projectId !== project)
          throw new Fault("not-found", `There is no project \`${project}\`.`);
        return toListBody(pageOfRows(await rowsOf(request), query), (row) => row);
      },
    ),
    operation(
      "POST /projects/:project/rate_limits/:limit",
      {
        summary:
          "Sets the rate limits of a project for one model; takes the model's ID or alias, too, which is not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.limits.write",
        body: RateLimitBody,
        answer: RateLimit,
      },
      async ({ params, body, request }) => {
        const change = toLimitsChange(body);
        const { limit } = params;
        const model = resolve(limit);
        const row = (await rowsOf(request)).find((each) => each.id === limit || each.model === model);
        if (row === undefined) {
          throw new Fault("not-found", `The project has no rate limit \`${limit}\`, and may use no model of this ID.`);
        }
        await limits.update(actorOf(request), projectOf(request), row.model, change);
        const [changed = row] = (await rowsOf(request)).filter(({ id }) => id === row.id);
        return changed;
      },
    ),
  );
}
