import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { OpenMail } from "../mail/index.ts";
import type { SpentAmount } from "../quota/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { budgetRoutes } from "./budget-routes.ts";
import { BudgetSweep } from "./budget-sweep.ts";
import { BudgetUsage } from "./budget-usage.ts";
import { type BudgetRules, Budgets } from "./budgets.ts";
import { type AlertChannels, isAlertWanted, publishSpendAlert } from "./publish-spend-alert.ts";
import { spendAlertRoutes } from "./spend-alert-routes.ts";
import { SpendAlerts } from "./spend-alerts.ts";
import { userBudgetRoutes } from "./user-budget-routes.ts";
import { UserSubjects } from "./user-subjects.ts";

interface AlertParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  accounts: Accounts;
  usage: UsageStorage;
  outbox: WebhookOutbox;
  mail: OpenMail | undefined;
}

/** Reports spend limits and budgets that are reached. Without a channel that wants them, requests cost nothing more. */
export function openSpendAlerts({ outbox: webhooks, mail, ...parts }: AlertParts): (spent: SpentAmount) => void {
  const { config, database, logger, lifetime, accounts, usage } = parts;
  const channels: AlertChannels = { webhooks, mail };
  const isWanted = () => mail !== undefined || webhooks.isSubscribed("spend_limit.reached", "budget.reached");
  const open = () => {
    const opened = new SpendAlerts({
      ...{ database, logger, spentIn: usage.spentIn },
      isWanted: (bound) => isAlertWanted(channels, bound),
      publish: (executor, alert) => publishSpendAlert(channels, executor, alert),
    });
    lifetime.defer(() => opened.close());
    if (isAlertWanted(channels, { budget: { id: "", name: null } })) {
      const budgets = new Budgets(accounts.transactions, rulesOf(config));
      const sweep = new BudgetSweep({ budgets, usage: new BudgetUsage(usage), alerts: opened, logger });
      lifetime.defer(() => sweep.close());
    }
    return opened;
  };
  let alerts = isWanted() ? open() : undefined;
  return (spent) => {
    // Webhooks can be added while the service runs.
    if (alerts === undefined && isWanted()) alerts = open();
    alerts?.note(spent);
  };
}

type BudgetUsageParts = Pick<UsageStorage, "spentIn" | "reports">;

/** Administration of budgets and spend alerts. */
export function budgetFeature({
  config,
  accounts,
  usage,
}: { config: Settings; accounts: Accounts } & { usage: BudgetUsageParts }): Feature {
  return { admin: budgetRoutesOf(accounts, usage, rulesOf(config)) };
}

export function budgetRoutesOf(
  { transactions }: Pick<Accounts, "transactions">,
  usage: BudgetUsageParts,
  rules: BudgetRules,
): NonNullable<Feature["admin"]> {
  const parts = { budgets: new Budgets(transactions, rules), usage: new BudgetUsage(usage) };
  const subjects = new UserSubjects(transactions.database);
  return [budgetRoutes(parts), spendAlertRoutes(parts.budgets), userBudgetRoutes(parts, subjects)];
}

function rulesOf({ usage, mail }: Pick<Settings, "usage" | "mail">): BudgetRules {
  const { endUsers, tagHeader, tagMetadata } = usage.labels;
  return {
    recordsEndUsers: endUsers,
    recordsTags: tagHeader !== undefined || tagMetadata.length > 0,
    sendsMail: mail !== undefined,
  };
}
