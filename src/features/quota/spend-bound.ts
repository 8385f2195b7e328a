/** Bounds of spending: what a scope may cost in a window of time. Plain data, which processes exchange. */

import { hash } from "node:crypto";
import { inDollars } from "../../kernel/nano-dollars.ts";
import type { SpendPeriod, SpendWindow } from "./spend-window.ts";

const NANO_DOLLARS_PER_CENT = 10_000_000;

export const SPEND_SUBJECTS = ["organization", "project", "api_key", "user", "end_user", "tag"] as const;

export type SpendSubject = (typeof SPEND_SUBJECTS)[number];

/** Whose spending counts. */
export interface SpendScope {
  organizationId: string;
  /** Null: in all projects. */
  projectId: string | null;
  subject: SpendSubject;
  /** ID of the organization, project, key or user, or the label. A key stands for all keys of its line. */
  id: string;
  /** Key under which the line counts; undefined: `id`. */
  rootKeyId?: string | undefined;
}

export interface SpendBound {
  /** Identifies the count in its window: a changed bound keeps it, a deleted and recreated one starts over. */
  countId: string;
  scope: SpendScope;
  period: SpendPeriod;
  window: SpendWindow;
  thresholdCents: number;
  /** False: exceeding it is reported, and not refused. */
  isEnforcing: boolean;
  /** Percentages of the threshold at which an alert is sent, ascending. */
  alertPercents: readonly number[];
  /** Undefined for a spend limit. */
  budget: { id: string; name: string | null } | undefined;
  /** When a spend limit was set, which tells it from an earlier one. */
  begunAt: number;
}

/** What a bound counts when a request has ended. */
export interface SpentAmount {
  bound: SpendBound;
  /** Nano-dollars, with what running requests have reserved: an upper bound. */
  atMost: number;
}

export function thresholdOf({ thresholdCents }: Pick<SpendBound, "thresholdCents">): number {
  return thresholdCents * NANO_DOLLARS_PER_CENT;
}

const HASHED: ReadonlySet<SpendSubject> = new Set(["user", "end_user", "tag"]);

/** Returns a name of the scope for counters, whose store must not contain identifiers of persons. */
export function countedName({ subject, id, rootKeyId = id }: Pick<SpendScope, "subject" | "id" | "rootKeyId">): string {
  return HASHED.has(subject) ? hash("sha256", `${subject} ${id}`).slice(0, 32) : rootKeyId;
}

export const SUBJECT_NAMES: Readonly<Record<SpendSubject, string>> = {
  organization: "organization",
  project: "project",
  api_key: "API key",
  user: "user",
  end_user: "end user",
  tag: "tag",
};
export const PERIOD_NAMES: Readonly<Record<SpendPeriod, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
  total: "total",
};

/** Says which bound refused a request, what it allows, when it resets and what to do. Amounts are nano-dollars. */
export function refusalMessage(bound: SpendBound, used: number, amount: number): string {
  const { budget, scope, period, window } = bound;
  const name = budget?.name == null ? budget?.id : `"${budget.name}" (${budget.id})`;
  const which =
    budget === undefined
      ? `The monthly spend limit of ${scope.id}`
      : `The ${PERIOD_NAMES[period]} budget ${name} of the ${SUBJECT_NAMES[scope.subject]} ${scope.id}`;
  const amounts = `Limit ${toDollars(thresholdOf(bound))}, Used ${toDollars(used)}, this request up to ${toDollars(amount)}`;
  return `${which} is reached: ${amounts}. ${resetOf(bound, window)}`;
}

function resetOf({ budget, period }: SpendBound, { until }: SpendWindow): string {
  if (budget === undefined)
    return "It resets at the start of the next month (UTC), or when an administrator raises it.";
  if (period === "total") return "It does not reset. An administrator can raise it.";
  const day = new Date(until).toISOString().slice(0, 10);
  return `It resets on ${day} at 00:00 UTC, or when an administrator raises it. A lower maximum of tokens reserves less.`;
}

function toDollars(nanoDollars: number): string {
  return `$${inDollars(nanoDollars).toFixed(6)}`;
}
