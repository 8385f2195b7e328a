/** Reports that spending reached a percentage of a limit or budget: by webhook and by e-mail. */

import { inDollars } from "../../kernel/nano-dollars.ts";
import type { Executor } from "../../storage/database.ts";
import type { MailOutbox } from "../mail/index.ts";
import { NO_END, type SpendBound } from "../quota/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { findBudgetsByIds } from "./budget-queries.ts";
import { spendAlertMail } from "./spend-alert-mail.ts";
import type { SpendAlert } from "./spend-alerts.ts";

export interface AlertChannels {
  webhooks: Pick<WebhookOutbox, "add" | "isSubscribed">;
  /** Undefined: no e-mail is configured. */
  mail: { outbox: Pick<MailOutbox, "add">; publicUrl: string | undefined } | undefined;
}

/** Whether any channel reports this bound. */
export function isAlertWanted({ webhooks, mail }: AlertChannels, { budget }: Pick<SpendBound, "budget">): boolean {
  if (budget === undefined) return webhooks.isSubscribed("spend_limit.reached");
  return mail !== undefined || webhooks.isSubscribed("budget.reached");
}

export async function publishSpendAlert(channels: AlertChannels, executor: Executor, alert: SpendAlert): Promise<void> {
  const { webhooks, mail } = channels;
  const { bound, percent, spentNanoDollars } = alert;
  const { scope, window, thresholdCents, isEnforcing: is_enforcing } = bound;
  const now = Date.now();
  const { organizationId: organization_id } = scope;
  const limit = { value: thresholdCents / 100, currency: "usd" as const };
  const spent = { value: inDollars(spentNanoDollars), currency: "usd" as const };
  if (bound.budget === undefined) {
    const month = new Date(window.from).toISOString().slice(0, 10);
    const data = { scope_id: scope.id, organization_id, percent, limit, spent, month, is_enforcing };
    await webhooks.add(executor, { type: "spend_limit.reached", data }, now);
    return;
  }
  const [row] = await findBudgetsByIds(executor, [bound.budget.id]);
  // Deleted since.
  if (row === undefined) return;
  const data = {
    ...{ budget_id: row.id, name: row.name, organization_id, project_id: row.projectId },
    subject: { type: scope.subject, id: scope.id },
    ...{ interval: row.period, percent, limit, spent, is_enforcing },
    starts_at: window.from / 1000,
    resets_at: window.until === NO_END ? null : window.until / 1000,
  };
  await webhooks.add(executor, { type: "budget.reached", data }, now);
  await mail?.outbox.add(executor, spendAlertMail(row, alert, mail.publicUrl), now);
}
