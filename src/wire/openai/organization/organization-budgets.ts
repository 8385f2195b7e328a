/** Budgets, and alerts of spending in OpenAI's shape. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import type { Budget as BudgetAnswer, BudgetUsage, UserBudgets } from "../../openapi/budget-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { ORDER_QUERY, PAGE_QUERY, queryNumber, toSeconds } from "./organization-list.ts";

/** One billion dollars. */
const MAX_CENTS = 100_000_000_000;
const MAX_PERCENTS = 10;
const MAX_PERCENT = 1_000;
const MAX_RECIPIENTS = 20;

const cents = z.int().min(1).max(MAX_CENTS).describe("US cents.");
const enforcement = z
  .strictObject({ status: z.enum(["enforcing", "inactive"]) })
  .describe("`enforcing` refuses requests that could exceed the budget; `inactive` only alerts. Default: enforcing.");
const percents = listOf(z.int().min(1).max(MAX_PERCENT))
  .max(MAX_PERCENTS)
  .transform((list) => [...new Set(list)].sort((a, b) => a - b))
  .describe("Percentages of the threshold at which an alert is sent. Default: 50, 80 and 100.");
const channel = lazy.strictObject(() => ({
  type: z.literal("email"),
  recipients: listOf(z.string()).min(1).max(MAX_RECIPIENTS),
  subject_prefix: z.string().max(100).nullish(),
}));
const name = z.string().trim().min(1).max(200);

export const BudgetCreateBody = named(
  "BudgetCreateBody",
  lazy.strictObject(() => ({
    name: name.nullish(),
    subject: z.strictObject({
      type: z.enum(["organization", "project", "api_key", "user", "end_user", "tag"]),
      id: z
        .string()
        .min(1)
        .max(128)
        .nullish()
        .describe(
          "ID of a project, key or user, an end user or a tag. Without it, each one has the budget for itself.",
        ),
    }),
    project_id: z.string().nullish().describe("Counts only spending in this project."),
    interval: z.enum(["day", "week", "month", "total"]).describe("UTC; weeks begin on Monday. `total` does not reset."),
    currency: z.literal("USD").default("USD"),
    threshold_amount: cents,
    enforcement: enforcement.optional(),
    starts_at: z
      .int()
      .min(0)
      .max(8_000_000_000)
      .nullish()
      .describe("For `total`: Unix time, of which the UTC day is the first that counts. Default: today."),
    alert_percents: percents.optional(),
    notification_channel: channel.nullish().describe("Sends alerts by e-mail, too."),
  })),
);

export const BudgetUpdateBody = named(
  "BudgetUpdateBody",
  lazy.strictObject(() => ({
    name: name.nullish(),
    currency: z.literal("USD").optional(),
    threshold_amount: cents.optional(),
    enforcement: enforcement.optional(),
    alert_percents: percents.optional(),
    notification_channel: channel.nullish(),
  })),
);

export const BudgetListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  ...ORDER_QUERY,
  before: z.string().min(1).optional(),
}));
export const BudgetUsageQuery = lazy.strictObject(() => ({ limit: queryNumber(z.int().min(1).max(100)).default(20) }));

export const SpendAlertBody = named(
  "SpendAlertBody",
  lazy.strictObject(() => ({
    currency: z.literal("USD"),
    interval: z.literal("month"),
    threshold_amount: cents,
    notification_channel: channel,
  })),
);

interface ShownBudget {
  id: string;
  name: string | null;
  projectId: string | null;
  subject: AnswerOf<typeof BudgetAnswer>["subject"]["type"];
  subjectId: string | null;
  period: AnswerOf<typeof BudgetAnswer>["interval"];
  thresholdCents: number;
  isEnforcing: boolean;
  startsAt: number;
  alertPercents: readonly number[];
  recipients: readonly string[];
  subjectPrefix: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface ShownBudgetUsage {
  spentNanoDollars: number;
  from: number;
  /** Undefined: it does not reset. */
  until: number | undefined;
}

export function toBudget(budget: ShownBudget, usage: ShownBudgetUsage | undefined): AnswerOf<typeof BudgetAnswer> {
  const { id, name: budgetName, projectId, subject, subjectId, period, thresholdCents } = budget;
  return {
    id,
    object: "organization.budget",
    name: budgetName,
    project_id: projectId,
    subject: { type: subject, id: subjectId },
    interval: period,
    currency: "USD",
    threshold_amount: thresholdCents,
    enforcement: toEnforcement(budget),
    starts_at: period === "total" ? toSeconds(budget.startsAt) : null,
    alert_percents: budget.alertPercents,
    notification_channel: budget.recipients.length === 0 ? null : toChannel(budget),
    usage: usage === undefined ? null : toUsage(budget, usage),
    created_at: toSeconds(budget.createdAt),
    updated_at: toSeconds(budget.updatedAt),
  };
}

export function toBudgetUsage(
  { id, thresholdCents }: Pick<ShownBudget, "id" | "thresholdCents">,
  { from, until }: Omit<ShownBudgetUsage, "spentNanoDollars">,
  spenders: readonly { id: string; spent: number }[],
): AnswerOf<typeof BudgetUsage> {
  return {
    object: "organization.budget.usage",
    budget_id: id,
    starts_at: toSeconds(from),
    resets_at: until === undefined ? null : toSeconds(until),
    data: spenders.map((spender) => ({ subject_id: spender.id, ...toShare(spender.spent, thresholdCents) })),
  };
}

type UserBudget = Pick<
  ShownBudget,
  "id" | "name" | "projectId" | "subject" | "period" | "thresholdCents" | "isEnforcing"
> & { subjectId: string; usage: ShownBudgetUsage };

export function toUserBudgets(budgets: readonly UserBudget[]): AnswerOf<typeof UserBudgets> {
  return {
    object: "list",
    data: budgets.map((budget) => ({
      budget_id: budget.id,
      object: "organization.user.budget",
      name: budget.name,
      project_id: budget.projectId,
      subject: { type: budget.subject, id: budget.subjectId },
      interval: budget.period,
      threshold_amount: budget.thresholdCents,
      enforcement: toEnforcement(budget),
      usage: toUsage(budget, budget.usage),
    })),
  };
}

export function toSpendAlert<Of extends "organization" | "project">(of: Of, alert: ShownBudget) {
  return {
    id: alert.id,
    object: `${of}.spend_alert` as const,
    currency: "USD" as const,
    interval: "month" as const,
    threshold_amount: alert.thresholdCents,
    notification_channel: toChannel(alert),
  };
}

function toEnforcement({ isEnforcing }: Pick<ShownBudget, "isEnforcing">) {
  return { status: isEnforcing ? ("enforcing" as const) : ("inactive" as const) };
}

function toChannel({ recipients, subjectPrefix }: ShownBudget) {
  return { type: "email" as const, recipients: [...recipients], subject_prefix: subjectPrefix };
}

function toUsage({ thresholdCents }: Pick<ShownBudget, "thresholdCents">, usage: ShownBudgetUsage) {
  return {
    ...toShare(usage.spentNanoDollars, thresholdCents),
    starts_at: toSeconds(usage.from),
    resets_at: usage.until === undefined ? null : toSeconds(usage.until),
  };
}

function toShare(spentNanoDollars: number, thresholdCents: number) {
  const spent = { value: inDollars(spentNanoDollars), currency: "usd" as const };
  // Hundredths of a percent.
  const percent = Math.round((spentNanoDollars / (thresholdCents * 1e7)) * 1e4) / 100;
  return { spent, percent };
}
