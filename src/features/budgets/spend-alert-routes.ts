import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { operation, type PathParams, type RouteAdder, routes } from "../../http/operation.ts";
import { BudgetListQuery, SpendAlertBody, toSpendAlert } from "../../wire/openai/organization/organization-budgets.ts";
import { toDeleted, toListBody } from "../../wire/openai/organization/organization-list.ts";
import { spendAlert } from "../../wire/openapi/budget-answers.ts";
import { deleted, listOfEntries } from "../../wire/openapi/list-answers.ts";
import { actorOf } from "../accounts/index.ts";
import type { BudgetReference } from "./budget-queries.ts";
import type { Budgets } from "./budgets.ts";
import { toNotification } from "./to-notification.ts";

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
  return routes(...serve("organization", budgets), ...serve("project", budgets));
}

function serve(owner: Owner, budgets: Budgets): RouteAdder[] {
  const { path, name, tag, read, write } = OWNERS[owner];
  const answer = spendAlert(owner);

  return [
    operation(
      `GET ${path}`,
      {
        summary: `Lists the spend alerts of ${name}.`,
        ...{ tag, permission: "admin", requires: read, query: BudgetListQuery, answer: listOfEntries(answer) },
      },
      async ({ query, caller, params }) => {
        const page = await budgets.list(referenceOf(caller, params), query);
        return toListBody(page, (alert) => toSpendAlert(owner, alert));
      },
    ),
    operation(
      `POST ${path}`,
      {
        summary: `Creates a spend alert of ${name}: an e-mail once a month when the amount is reached.`,
        ...{ tag, permission: "admin", requires: write, body: SpendAlertBody, answer },
      },
      async ({ params, body, caller, request }) => {
        const { organizationId, projectId = null } = referenceOf(caller, params);
        const alert = await budgets.create(actorOf(request), {
          ...{ kind: "alert", name: null, organizationId, projectId, subject: owner, subjectId: projectId },
          ...{ period: "month", thresholdCents: body.threshold_amount, isEnforcing: false, startsAt: undefined },
          alertPercents: [100],
          notification: toNotification(body.notification_channel),
        });
        return toSpendAlert(owner, alert);
      },
    ),
    operation(
      `GET ${path}/:alert`,
      {
        summary: `Retrieves a spend alert of ${name}.`,
        ...{ tag, permission: "admin", requires: read, answer },
      },
      async ({ params, caller }) =>
        toSpendAlert(owner, await budgets.retrieve(referenceOf(caller, params), params.alert)),
    ),
    operation(
      `POST ${path}/:alert`,
      {
        summary: `Changes a spend alert of ${name}. A changed amount is reported again.`,
        ...{ tag, permission: "admin", requires: write, body: SpendAlertBody, answer },
      },
      async ({ params, body, request, caller }) => {
        const change = {
          thresholdCents: body.threshold_amount,
          notification: toNotification(body.notification_channel),
        };
        const { alert } = params;
        return toSpendAlert(owner, await budgets.update(actorOf(request), referenceOf(caller, params), alert, change));
      },
    ),
    operation(
      `DELETE ${path}/:alert`,
      {
        summary: `Deletes a spend alert of ${name}.`,
        ...{ tag, permission: "admin", requires: write, answer: deleted(`${owner}.spend_alert.deleted`) },
      },
      async ({ params, request, caller }) => {
        const { alert } = params;
        await budgets.delete(actorOf(request), referenceOf(caller, params), alert);
        return toDeleted(`${owner}.spend_alert`, alert);
      },
    ),
  ];
}

function referenceOf({ organizationId }: Caller, { project }: PathParams): BudgetReference {
  return { organizationId, projectId: project ?? null, kind: "alert" };
}
