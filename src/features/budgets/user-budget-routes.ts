import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { toUserBudgets } from "../../wire/openai/organization/organization-budgets.ts";
import { UserBudgets } from "../../wire/openapi/budget-answers.ts";
import { concerns } from "./applicable-budget.ts";
import type { BudgetParts } from "./budget-routes.ts";
import type { Budget } from "./budgets.ts";
import type { UserKey, UserSubjects } from "./user-subjects.ts";

/** GET /v1/organization/users/{user}/budgets */
export function userBudgetRoutes({ budgets, usage }: BudgetParts, subjects: UserSubjects): FastifyPluginAsync {
  return routes(
    operation(
      "GET /users/:user/budgets",
      {
        summary:
          "Lists the budgets of a user and of the user's keys, with what is spent; every user may list their own. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        requiresOfSelf: "signed-in",
        answer: UserBudgets,
      },
      async ({ params, caller }) => {
        const { organizationId } = caller;
        const { user } = params;
        const keys = await subjects.keysOf({ organizationId, id: user });
        if (keys === undefined) throw new Fault("not-found", `There is no user \`${user.slice(0, 100)}\`.`);
        const now = Date.now();
        const entries = [];
        for (const budget of await budgets.all(organizationId)) {
          if (budget.kind !== "budget") continue;
          for (const [countedId, id] of subjectsOf(budget, user, keys)) {
            if (!concerns(budget, countedId)) continue;
            entries.push({ ...budget, subjectId: id, usage: await usage.readOf(budget, id, now) });
          }
        }
        return toUserBudgets(entries);
      },
    ),
  );
}

/** ID under which each subject counts → ID to show: of keys that replaced each other, the newest. */
function subjectsOf(
  { subject, projectId }: Budget,
  user: string,
  keys: readonly UserKey[],
): ReadonlyMap<string, string> {
  if (subject === "user") return new Map([[user, user]]);
  if (subject !== "api_key") return new Map();
  const counted = keys.filter((key) => projectId === null || key.projectId === projectId);
  const oldestFirst = counted.sort((one, other) => one.createdAt - other.createdAt);
  return new Map(oldestFirst.map(({ id, rootKeyId }) => [rootKeyId ?? id, id]));
}
