/**
 * Looks for budgets that were reached without a request that noticed: the process ended before it reported, or other
 * replicas of an earlier version made the requests.
 */

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import { thresholdOf } from "../quota/index.ts";
import type { BudgetUsage } from "./budget-usage.ts";
import type { Budgets } from "./budgets.ts";
import type { SpendAlerts } from "./spend-alerts.ts";
import { toBudgetBound } from "./spend-bounds.ts";

export interface BudgetSweepOptions {
  budgets: Pick<Budgets, "all">;
  usage: BudgetUsage;
  alerts: SpendAlerts;
  logger: Logger;
}

const EVERY_MS = 5 * MINUTE_MS;
/** Usage that a killed process left in its journal is written first. */
const FIRST_MS = 10_000;
const JITTER = 0.2;
const MAX_SUBJECTS = 1_000;

export class BudgetSweep {
  readonly #options: BudgetSweepOptions;
  readonly #poll: Poll;

  constructor(options: BudgetSweepOptions) {
    this.#options = options;
    const onFailure = (err: unknown) => options.logger.warn({ err }, "budgets could not be checked");
    this.#poll = new Poll(() => this.#sweep(), { everyMs: EVERY_MS, firstMs: FIRST_MS, jitter: JITTER, onFailure });
  }

  /** Reports what was reached and not reported. */
  run(): Promise<void> {
    return this.#poll.run();
  }

  close(): Promise<void> {
    return this.#poll.close();
  }

  async #sweep(): Promise<void> {
    const { budgets, usage, alerts } = this.#options;
    const now = Date.now();
    for (const budget of await budgets.all()) {
      const [lowest] = budget.alertPercents;
      if (lowest === undefined) continue;
      const minNanoDollars = Math.ceil((thresholdOf(budget) * lowest) / 100);
      for (const { id, spent } of await usage.top(budget, now, { minNanoDollars, limit: MAX_SUBJECTS })) {
        await alerts.report(toBudgetBound(budget, id, now), spent);
      }
      await yieldToEventLoop();
    }
  }
}
