/** Answers about budgets and alerts of spending. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOfEntries } from "./list-answers.ts";
import { memberOf, named, toComponentName } from "./named.ts";

const seconds = z.int();
const secondsOrNull = z.int().nullable();
const amount = lazy.object(() => ({ value: z.number(), currency: z.literal("usd") }));
const subjectType = z.enum(["organization", "project", "api_key", "user", "end_user", "tag"]);
const interval = z.enum(["day", "week", "month", "total"]);

const NotificationChannel = lazy.object(() => ({
  type: z.literal("email"),
  recipients: z.array(z.string()),
  subject_prefix: z.string().nullable(),
}));

const usage = lazy.object(() => ({
  spent: amount.describe("Cost of the requests that have ended."),
  percent: z.number().describe("Part of the threshold that is spent."),
  starts_at: seconds.describe("Start of the present window."),
  resets_at: secondsOrNull.describe("End of the present window; null for `total`."),
}));

export const Budget = named(
  "Budget",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.budget"),
    name: z.string().nullable(),
    project_id: z.string().nullable().describe("Only spending in this project counts; null: in all projects."),
    subject: z.object({
      type: subjectType,
      id: z.string().nullable().describe("null: each one has the budget for itself."),
    }),
    interval,
    currency: z.literal("USD"),
    threshold_amount: z.int().min(1).describe("US cents."),
    enforcement: z.object({ status: z.enum(["enforcing", "inactive"]) }),
    starts_at: secondsOrNull.describe("First day that counts; null unless the interval is `total`."),
    alert_percents: z.array(z.int()),
    notification_channel: NotificationChannel.nullable(),
    usage: usage.nullable().describe("null for a budget that each subject has for itself."),
    created_at: seconds,
    updated_at: seconds,
  })),
);
export const BudgetList = listOfEntries(Budget);

export const BudgetUsage = named(
  "BudgetUsage",
  lazy.object(() => ({
    object: z.literal("organization.budget.usage"),
    budget_id: z.string(),
    starts_at: seconds,
    resets_at: secondsOrNull,
    data: z.array(z.object({ subject_id: z.string(), spent: amount, percent: z.number() })),
  })),
);

export const UserBudgets = named(
  "UserBudgets",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        budget_id: z.string(),
        object: z.literal("organization.user.budget"),
        name: z.string().nullable(),
        project_id: z.string().nullable(),
        subject: z.object({ type: subjectType, id: z.string() }),
        interval,
        threshold_amount: z.int().describe("US cents."),
        enforcement: z.object({ status: z.enum(["enforcing", "inactive"]) }),
        usage,
      }),
    ),
  })),
);

export function spendAlert(of: "organization" | "project") {
  const object = `${of}.spend_alert` as const;
  return memberOf(toComponentName(object), () =>
    lazy.object(() => ({
      id: z.string(),
      object: z.literal(object),
      currency: z.literal("USD"),
      interval: z.literal("month"),
      threshold_amount: z.int().describe("US cents."),
      notification_channel: NotificationChannel,
    })),
  );
}
