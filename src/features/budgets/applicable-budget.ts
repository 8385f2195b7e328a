/** Budgets that may apply to the requests of a key, as plain data. */

import type { SpendPeriod, SpendSubject } from "../quota/index.ts";
import type { BudgetRow } from "./budget-rows.ts";

export interface ApplicableBudget {
  id: string;
  name: string | null;
  organizationId: string;
  projectId: string | null;
  subject: SpendSubject;
  subjectId: string | null;
  period: SpendPeriod;
  thresholdCents: number;
  isEnforcing: boolean;
  startsAt: number;
  alertPercents: readonly number[];
}

/** Part of a key on which it depends. */
interface BudgetedKey {
  id: string;
  organizationId: string;
  projectId: string | null;
  userId: string | null;
}

/** Selects the budgets of a key; those of end users and tags depend on the request, too. */
export function budgetsOfKey(budgets: readonly BudgetRow[], key: BudgetedKey): ApplicableBudget[] {
  return budgets.filter((budget) => mayApply(budget, key)).map(toApplicableBudget);
}

function mayApply({ organizationId, projectId, subject, subjectId }: BudgetRow, key: BudgetedKey): boolean {
  if (organizationId !== key.organizationId) return false;
  if (projectId !== null && projectId !== key.projectId) return false;
  if (subject === "end_user" || subject === "tag" || subject === "organization") return true;
  const ids = { project: key.projectId, api_key: key.id, user: key.userId };
  const id = ids[subject];
  return id !== null && (subjectId === null || subjectId === id);
}

export function toApplicableBudget(row: BudgetRow): ApplicableBudget {
  const { id, name, organizationId, projectId, subject, subjectId, period, thresholdCents, startsAt } = row;
  const isEnforcing = row.isEnforcing === 1;
  const alertPercents = JSON.parse(row.alertPercents);
  return {
    ...{ id, name, organizationId, projectId, subject, subjectId, period },
    ...{ thresholdCents, isEnforcing, startsAt, alertPercents },
  };
}
