import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
import { BudgetListQuery, SpendAlertBody, toSpendAlert } from "../../wire/openai/organization/organization-budgets.ts";
import { toDeleted, toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { spendAlert } from "../../wire/openapi/budget-answers.ts";
import { deleted, listOfEntries } from "../../wire/openapi/organization-answers.ts";
import { actorOf } from "../accounts/index.ts";
import type { BudgetReference } from "./budget-queries.ts";
import type { Budgets } from "./budgets.ts";
import { toNotification } from "./to-notification.ts";

interface OfAlert {
  Params: { project?: string; alert: string };
}

interface OfProject {
  Params: { project?: string };
}

const OWNERS = {
  organization: {
    path: "/spend_alerts",
    name: "the organization",
    tag: "Organization",
    read: "organization.read",
    write: "organization.write",
  },
  project: {
    path: "/projects/:project/spend_alerts",
    name: "a project",
    tag: "Projects",
    read: "project.read",
    write: "project.limits.write",
  },
} as const;

type Owner = keyof typeof OWNERS;

/** `spend_alerts` of the organization and of projects */
export function spendAlertRoutes(budgets: Budgets): FastifyPluginAsync {
  return async (app) => {
    serve(app, "organization", budgets);
    serve(app, "project", budgets);
  };
}

function serve(app: FastifyInstance, owner: Owner, budgets: Budgets): void {
  const { path, name, tag, read, write } = OWNERS[owner];
  const answer = spendAlert(owner);
  app.get<OfProject>(
    path,
    operation({
      summary: `Lists the spend alerts of ${name}.`,
      ...{ tag, permission: "admin", requires: read, query: BudgetListQuery, answer: listOfEntries(answer) },
    }),
    async (request) => {
      const page = await budgets.list(referenceOf(request), parse(BudgetListQuery, request.query));
      return toListBody(page, (alert) => toSpendAlert(owner, alert));
    },
  );

  app.post<OfProject>(
    path,
    operation({
      summary: `Creates a spend alert of ${name}: an e-mail once a month when the amount is reached.`,
      ...{ tag, permission: "admin", requires: write, body: SpendAlertBody, answer },
    }),
    async (request) => {
      const body = parse(SpendAlertBody, request.body);
      const { organizationId } = request.caller;
      const projectId = request.params.project ?? null;
      const alert = await budgets.create(actorOf(request), {
        ...{ kind: "alert", name: null, organizationId, projectId, subject: owner, subjectId: projectId },
        ...{ period: "month", thresholdCents: body.threshold_amount, isEnforcing: false, startsAt: undefined },
        alertPercents: [100],
        notification: toNotification(body.notification_channel),
      });
      return toSpendAlert(owner, alert);
    },
  );

  app.get<OfAlert>(
    `${path}/:alert`,
    operation({
      summary: `Retrieves a spend alert of ${name}.`,
      ...{ tag, permission: "admin", requires: read, answer },
    }),
    async (request) => toSpendAlert(owner, await budgets.retrieve(referenceOf(request), request.params.alert)),
  );

  app.post<OfAlert>(
    `${path}/:alert`,
    operation({
      summary: `Changes a spend alert of ${name}. A changed amount is reported again.`,
      ...{ tag, permission: "admin", requires: write, body: SpendAlertBody, answer },
    }),
    async (request) => {
      const body = parse(SpendAlertBody, request.body);
      const change = {
        thresholdCents: body.threshold_amount,
        notification: toNotification(body.notification_channel),
      };
      const { alert } = request.params;
      return toSpendAlert(owner, await budgets.update(actorOf(request), referenceOf(request), alert, change));
    },
  );

  app.delete<OfAlert>(
    `${path}/:alert`,
    operation({
      summary: `Deletes a spend alert of ${name}.`,
      ...{ tag, permission: "admin", requires: write, answer: deleted(`${owner}.spend_alert.deleted`) },
    }),
    async (request) => {
      const { alert } = request.params;
      await budgets.delete(actorOf(request), referenceOf(request), alert);
      return toDeleted(`${owner}.spend_alert`, alert);
    },
  );
}

function referenceOf({ caller, params }: FastifyRequest<OfProject>): BudgetReference {
  return { organizationId: caller.organizationId, projectId: params.project ?? null, kind: "alert" };
}
