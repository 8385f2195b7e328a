/** Selects the spend limits and budgets that apply to a request. */

import { type Caller, countedKeyId } from "../../contracts/caller.ts";
import {
  countedName,
  type SpendBound,
  type SpendLimit,
  type SpendScope,
  type SpendSubject,
  spendWindow,
} from "../quota/index.ts";
import type { UsageLabel } from "../usage/index.ts";
import { type ApplicableBudget, concerns } from "./applicable-budget.ts";

export interface SpendBoundSources {
  spendLimitsOf: (caller: Caller) => readonly SpendLimit[];
  budgetsOf: (caller: Caller) => readonly ApplicableBudget[];
  /** Returns the label as it is summed: callers can send any number of them. */
  summedLabel: (projectId: string, label: UsageLabel, at: number) => UsageLabel;
}

/** Percentages at which spend limits are reported. */
const LIMIT_PERCENTS = [50, 80, 100];
const NO_BOUNDS: readonly SpendBound[] = [];

/** Returns the bounds of a request that started at `startedAt`, epoch milliseconds. */
export function spendBounds(
  { spendLimitsOf, budgetsOf, summedLabel }: SpendBoundSources,
  caller: Caller,
  startedAt: number,
): readonly SpendBound[] {
  const limits = spendLimitsOf(caller);
  const budgets = budgetsOf(caller);
  if (limits.length === 0 && budgets.length === 0) return NO_BOUNDS;
  const bounds = limits.map((limit) => toLimitBound(caller, limit, startedAt));
  for (const budget of budgets) {
    if (startedAt < budget.startsAt) continue;
    const isEachLabel = budget.subjectId === null && (budget.subject === "end_user" || budget.subject === "tag");
    for (const id of subjectsOf(caller, budget.subject).filter((each) => concerns(budget, each))) {
      const label = { kind: budget.subject as UsageLabel["kind"], value: id };
      const labelSum = isEachLabel ? summedLabel(caller.projectId ?? "", label, startedAt).value : undefined;
      bounds.push(toBudgetBound(budget, labelSum ?? budget.subjectId ?? id, startedAt));
    }
  }
  return bounds;
}

export function toBudgetBound(budget: ApplicableBudget, subjectId: string, time: number): SpendBound {
  const { id, name, organizationId, projectId, subject, period, thresholdCents, isEnforcing } = budget;
  const scope: SpendScope = { organizationId, projectId, subject, id: subjectId };
  const window = spendWindow(period, time, budget.startsAt);
  return {
    countId: `budget ${id} ${countedName(scope)} ${window.from}`,
    ...{ scope, period, window, thresholdCents, isEnforcing },
    alertPercents: budget.alertPercents,
    budget: { id, name },
    begunAt: 0,
  };
}

function toLimitBound(caller: Caller, limit: SpendLimit, time: number): SpendBound {
  const { organizationId, projectId } = caller;
  const { scopeId: id, thresholdCents, begunAt } = limit;
  const window = spendWindow("month", time);
  const subject = id === organizationId ? "organization" : id === projectId ? "project" : "api_key";
  const rootKeyId = subject === "api_key" ? countedKeyId(caller) : undefined;
  const scope: SpendScope = { organizationId, projectId: null, subject, id, rootKeyId };
  return {
    countId: `spend ${countedName(scope)} ${window.from} ${begunAt}`,
    scope,
    ...{ period: "month", window, thresholdCents, isEnforcing: limit.isEnforcing === 1 },
    alertPercents: LIMIT_PERCENTS,
    budget: undefined,
    begunAt,
  };
}

/** IDs or labels of this kind that the request belongs to. */
function subjectsOf(caller: Caller, subject: SpendSubject): readonly string[] {
  const { organizationId, projectId, userId, labels } = caller;
  switch (subject) {
    case "organization":
      return [organizationId];
    case "project":
      return projectId === undefined ? [] : [projectId];
    case "api_key":
      return [countedKeyId(caller)];
    case "user":
      return userId === undefined ? [] : [userId];
    case "end_user":
      return labels?.endUser === undefined ? [] : [labels.endUser];
    case "tag":
      return labels?.tags ?? [];
  }
}

/** Whether a budget names this label, whose sum must then be exact. */
export function isBudgeted(budgets: readonly ApplicableBudget[], { kind, value }: UsageLabel): boolean {
  return budgets.some(({ subject, subjectId }) => subject === kind && subjectId === value);
}
