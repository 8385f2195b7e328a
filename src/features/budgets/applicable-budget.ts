/** Budgets that may apply to the requests of a key, as plain data. */

import type { SpendPeriod, SpendSubject } from "../quota/index.ts";
import type { BudgetWithSubject } from "./budget-queries.ts";

export interface ApplicableBudget {
  id: string;
  name: string | null;
  organizationId: string;
  projectId: string | null;
  subject: SpendSubject;
  subjectId: string | null;
  /** First key of the line of a key that replaced another one. */
  subjectRootKeyId?: string | null | undefined;
  period: SpendPeriod;
  thresholdCents: number;
  isEnforcing: boolean;
  startsAt: number;
  alertPercents: readonly number[];
}

type Subject = Pick<ApplicableBudget, "subjectId" | "subjectRootKeyId">;

/** Part of a key on which it depends. */
interface BudgetedKey {
  id: string;
  rootKeyId?: string | null;
  organizationId: string;
  projectId: string | null;
  userId: string | null;
}

/** Selects the budgets of a key; those of end users and tags depend on the request, too. */
export function budgetsOfKey(budgets: readonly BudgetWithSubject[], key: BudgetedKey): ApplicableBudget[] {
  return budgets.filter((budget) => mayApply(budget, key)).map(toApplicableBudget);
}

/** Whether a budget concerns an organization, project, key, user or label; a key by the first one of its line. */
export function concerns({ subjectId, subjectRootKeyId }: Subject, id: string): boolean {
  return subjectId === null || (subjectRootKeyId ?? subjectId) === id;
}

function mayApply(budget: BudgetWithSubject, key: BudgetedKey): boolean {
  const { organizationId, projectId, subject } = budget;
  if (organizationId !== key.organizationId) return false;
  if (projectId !== null && projectId !== key.projectId) return false;
  if (subject === "end_user" || subject === "tag" || subject === "organization") return true;
  const ids = { project: key.projectId, api_key: key.rootKeyId ?? key.id, user: key.userId };
  const id = ids[subject];
  return id !== null && concerns(budget, id);
}

export function toApplicableBudget(row: BudgetWithSubject): ApplicableBudget {
  const {
    id,
    name,
    organizationId,
    projectId,
    subject,
    subjectId,
    subjectRootKeyId,
    period,
    thresholdCents,
    startsAt,
  } = row;
  const isEnforcing = row.isEnforcing === 1;
  const alertPercents = JSON.parse(row.alertPercents);
  return {
    ...{ id, name, organizationId, projectId, subject, subjectId, subjectRootKeyId, period },
    ...{ thresholdCents, isEnforcing, startsAt, alertPercents },
  };
}
