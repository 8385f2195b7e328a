import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
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
import { parse } from "../../wire/openai/validate.ts";
import {
  Budget as BudgetAnswer,
  BudgetList,
  BudgetUsage as BudgetUsageAnswer,
} from "../../wire/openapi/budget-answers.ts";
import { deleted } from "../../wire/openapi/organization-answers.ts";
import { actorOf } from "../accounts/index.ts";
import type { BudgetReference } from "./budget-queries.ts";
import { type BudgetUsage, toShownWindow, windowOf } from "./budget-usage.ts";
import type { Budget, Budgets } from "./budgets.ts";
import { toNotification } from "./to-notification.ts";

interface OfBudget {
  Params: { project?: string; budget: string };
}

interface OfProject {
  Params: { project?: string };
}

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
  return async (app) => {
    serveList(app, "organization", parts);
    serveOne(app, "organization", parts);
    serveList(app, "project", parts);
    serveOne(app, "project", parts);
  };
}

function serveList(app: FastifyInstance, place: keyof typeof PLACES, { budgets, usage }: BudgetParts): void {
  const { prefix, where, tag, read, write } = PLACES[place];
  app.get<OfProject>(
    `${prefix}/budgets`,
    operation({
      summary: `Lists the budgets${where}, with what is spent. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: read, query: BudgetListQuery, answer: BudgetList },
    }),
    async (request) => {
      const page = await budgets.list(referenceOf(request), parse(BudgetListQuery, request.query));
      const now = Date.now();
      const entries = [];
      for (const budget of page.entries) entries.push({ budget, usage: await usage.read(budget, now) });
      return toListBody({ ...page, entries }, (entry) => toBudget(entry.budget, entry.usage));
    },
  );

  app.post<OfProject>(
    `${prefix}/budgets`,
    operation({
      summary: `Creates a budget${where}. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: write, body: BudgetCreateBody, answer: BudgetAnswer },
    }),
    async (request) => {
      const body = parse(BudgetCreateBody, request.body);
      const { organizationId, projectId } = referenceOf(request);
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
  );
}

function serveOne(app: FastifyInstance, place: keyof typeof PLACES, { budgets, usage }: BudgetParts): void {
  const { prefix, where, tag, read, write } = PLACES[place];
  const path = `${prefix}/budgets/:budget`;
  app.get<OfBudget>(
    path,
    operation({
      summary: `Retrieves a budget${where}. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: read, answer: BudgetAnswer },
    }),
    async (request) => show(await budgets.retrieve(referenceOf(request), request.params.budget), usage),
  );

  app.get<OfBudget>(
    `${path}/usage`,
    operation({
      summary: `Lists the subjects of a budget${where} that have spent most in the present window. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: read, query: BudgetUsageQuery, answer: BudgetUsageAnswer },
    }),
    async (request) => {
      const { limit } = parse(BudgetUsageQuery, request.query);
      const budget = await budgets.retrieve(referenceOf(request), request.params.budget);
      const now = Date.now();
      const spenders = await usage.top(budget, now, { minNanoDollars: 0, limit });
      return toBudgetUsage(budget, toShownWindow(windowOf(budget, now)), spenders);
    },
  );

  app.post<OfBudget>(
    path,
    operation({
      summary: `Changes a budget${where}. What was spent so far keeps counting. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: write, body: BudgetUpdateBody, answer: BudgetAnswer },
    }),
    async (request) => {
      const { notification_channel: channel, ...body } = parse(BudgetUpdateBody, request.body);
      const budget = await budgets.update(actorOf(request), referenceOf(request), request.params.budget, {
        name: body.name,
        thresholdCents: body.threshold_amount,
        isEnforcing: body.enforcement && body.enforcement.status === "enforcing",
        alertPercents: body.alert_percents,
        notification: channel && toNotification(channel),
      });
      return show(budget, usage);
    },
  );

  app.delete<OfBudget>(
    path,
    operation({
      summary: `Deletes a budget${where}. Not in OpenAI's API.`,
      ...{ tag, permission: "admin", requires: write, answer: deleted("organization.budget.deleted") },
    }),
    async (request) => {
      const { budget } = request.params;
      await budgets.delete(actorOf(request), referenceOf(request), budget);
      return toDeleted("organization.budget", budget);
    },
  );
}

async function show(budget: Budget, usage: BudgetUsage) {
  return toBudget(budget, await usage.read(budget, Date.now()));
}

function referenceOf({ caller, params }: FastifyRequest<OfProject>): BudgetReference {
  return { organizationId: caller.organizationId, projectId: params.project, kind: "budget" };
}
