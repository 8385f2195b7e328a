import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { operation, type PathParams, type RouteAdder, routes } from "../../http/operation.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import {
  BudgetCreateBody,
  BudgetListQuery,
  BudgetUpdateBody,
  BudgetUsageQuery,
  toBudget,
  toBudgetUsage,
} from "../../wire/openai/organization/organization-budgets.ts";
import { toDeleted, toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  Budget as BudgetAnswer,
  BudgetList,
  BudgetUsage as BudgetUsageAnswer,
} from "../../wire/openapi/budget-answers.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { actorOf } from "../accounts/index.ts";
import type { BudgetReference } from "./budget-queries.ts";
import { type BudgetUsage, toShownWindow, windowOf } from "./budget-usage.ts";
import type { Budget, Budgets } from "./budgets.ts";
import { toNotification } from "./to-notification.ts";

const PLACES = {
  organization: { prefix: "", where: "", tag: "Organization", read: "organization.read", write: "organization.write" },
  project: {
    prefix: "/projects/:project",
    where: " of a project",
    tag: "Projects",
    read: "project.read",
    write: "project.limits.write",
  },
} as const;

export interface BudgetParts {
  budgets: Budgets;
  usage: BudgetUsage;
}

/** /v1/organization/budgets and /v1/organization/projects/{project}/budgets. Not in OpenAI's API. */
export function budgetRoutes(parts: BudgetParts): FastifyPluginAsync {
  return routes(
    ...serveList("organization", parts),
    ...serveOne("organization", parts),
    ...serveList("project", parts),
    ...serveOne("project", parts),
  );
}

function serveList(place: keyof typeof PLACES, { budgets, usage }: BudgetParts): RouteAdder[] {
  const { prefix, where, tag, read, write } = PLACES[place];

  return [
    operation(
      `GET ${prefix}/budgets`,
      {
        summary: `Lists the budgets${where}, with what is spent. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: read, query: BudgetListQuery, answer: BudgetList },
      },
      async ({ query, caller, params }) => {
        const page = await budgets.list(referenceOf(caller, params), query);
        const now = Date.now();
        const entries = [];
        for (const budget of page.entries) entries.push({ budget, usage: await usage.read(budget, now) });
        return toListBody({ ...page, entries }, (entry) => toBudget(entry.budget, entry.usage));
      },
    ),
    operation(
      `POST ${prefix}/budgets`,
      {
        summary: `Creates a budget${where}. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: write, body: BudgetCreateBody, answer: BudgetAnswer },
      },
      async ({ body, request, caller, params }) => {
        const { organizationId, projectId } = referenceOf(caller, params);
        const isElsewhere = projectId !== undefined && (body.project_id ?? projectId) !== projectId;
        if (isElsewhere) throw invalidRequest("'project_id' must be the project of the path.", "project_id");
        if (body.starts_at != null && body.interval !== "total") {
          throw invalidRequest("'starts_at' needs 'interval' to be \"total\"; other intervals reset.", "starts_at");
        }
        const budget = await budgets.create(actorOf(request), {
          kind: "budget",
          organizationId,
          projectId: projectId ?? body.project_id ?? null,
          name: body.name ?? null,
          subject: body.subject.type,
          subjectId: body.subject.id ?? null,
          period: body.interval,
          thresholdCents: body.threshold_amount,
          isEnforcing: body.enforcement?.status !== "inactive",
          startsAt: body.starts_at == null ? undefined : body.starts_at * 1000,
          alertPercents: body.alert_percents,
          notification: body.notification_channel ? toNotification(body.notification_channel) : null,
        });
        return show(budget, usage);
      },
    ),
  ];
}

function serveOne(place: keyof typeof PLACES, { budgets, usage }: BudgetParts): RouteAdder[] {
  const { prefix, where, tag, read, write } = PLACES[place];
  const path = `${prefix}/budgets/:budget` as const;

  return [
    operation(
      `GET ${path}`,
      {
        summary: `Retrieves a budget${where}. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: read, answer: BudgetAnswer },
      },
      async ({ params, caller }) => show(await budgets.retrieve(referenceOf(caller, params), params.budget), usage),
    ),
    operation(
      `GET ${path}/usage`,
      {
        summary: `Lists the subjects of a budget${where} that have spent most in the present window. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: read, query: BudgetUsageQuery, answer: BudgetUsageAnswer },
      },
      async ({ params, query: { limit }, caller }) => {
        const budget = await budgets.retrieve(referenceOf(caller, params), params.budget);
        const now = Date.now();
        const spenders = await usage.top(budget, now, { minNanoDollars: 0, limit });
        return toBudgetUsage(budget, toShownWindow(windowOf(budget, now)), spenders);
      },
    ),
    operation(
      `POST ${path}`,
      {
        summary: `Changes a budget${where}. What was spent so far keeps counting. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: write, body: BudgetUpdateBody, answer: BudgetAnswer },
      },
      async ({ params, body, request, caller }) => {
        const { notification_channel: channel } = body;
        const budget = await budgets.update(actorOf(request), referenceOf(caller, params), params.budget, {
          name: body.name,
          thresholdCents: body.threshold_amount,
          isEnforcing: body.enforcement && body.enforcement.status === "enforcing",
          alertPercents: body.alert_percents,
          notification: channel && toNotification(channel),
        });
        return show(budget, usage);
      },
    ),
    operation(
      `DELETE ${path}`,
      {
        summary: `Deletes a budget${where}. Not in OpenAI's API.`,
        ...{ tag, permission: "admin", requires: write, answer: deleted("organization.budget.deleted") },
      },
      async ({ params, request, caller }) => {
        const { budget } = params;
        await budgets.delete(actorOf(request), referenceOf(caller, params), budget);
        return toDeleted("organization.budget", budget);
      },
    ),
  ];
}

async function show(budget: Budget, usage: BudgetUsage) {
  return toBudget(budget, await usage.read(budget, Date.now()));
}

function referenceOf({ organizationId }: Caller, { project }: PathParams): BudgetReference {
  return { organizationId, projectId: project, kind: "budget" };
}
