/** Finds spend limits and budgets whose spending reaches a percentage that is reported. */

import { growingCache } from "../../kernel/growing-cache.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { countedName, type SpendBound, type SpentAmount, thresholdOf } from "../quota/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import { markSpendAlerts } from "./spend-alert-queries.ts";

export interface SpendAlert {
  bound: SpendBound;
  percent: number;
  spentNanoDollars: number;
}

export interface SpendAlertsOptions {
  database: Database;
  logger: Logger;
  spentIn: UsageStorage["spentIn"];
  /** False: nobody wants alerts of this bound. */
  isWanted: (bound: SpendBound) => boolean;
  /** Called once per window and percentage, in the transaction that marks it as reported. */
  publish: (executor: Executor, alert: SpendAlert) => Promise<void>;
}

const CHECK_MS = 1_000;
const MAX_REPORTED = 50_000;

export class SpendAlerts {
  readonly #options: SpendAlertsOptions;
  readonly #poll: Poll;
  /** Amounts to check, by bound. */
  #pending = new Map<string, SpendBound>();
  /** Highest percentage of each bound that is reported. */
  readonly #reported = growingCache<number>(MAX_REPORTED);

  constructor(options: SpendAlertsOptions) {
    this.#options = options;
    this.#poll = new Poll(() => this.#checkAll(), { everyMs: CHECK_MS });
  }

  /** Called for each bound of a request at its end. */
  note({ bound, atMost }: SpentAmount): void {
    const key = keyOf(bound);
    const next = bound.alertPercents.find((percent) => percent > (this.#reported.get(key) ?? 0));
    if (next === undefined || atMost < (thresholdOf(bound) * next) / 100) return;
    if (this.#options.isWanted(bound)) this.#pending.set(key, bound);
  }

  /** Compares noted bounds with what the database has recorded. */
  check(): Promise<void> {
    return this.#poll.run();
  }

  async close(): Promise<void> {
    await this.check();
    await this.#poll.close();
  }

  /** Reports what a bound has reached, unless that is reported. */
  async report(bound: SpendBound, spentNanoDollars: number): Promise<void> {
    const { database, publish, isWanted } = this.#options;
    const { scope, window, budget, begunAt, thresholdCents } = bound;
    const reached = bound.alertPercents.filter((percent) => spentNanoDollars >= (thresholdOf(bound) * percent) / 100);
    const highest = reached.at(-1);
    const key = keyOf(bound);
    if (highest === undefined || highest <= (this.#reported.get(key) ?? 0) || !isWanted(bound)) return;
    await database.transaction(async (executor) => {
      const scopeId = budget === undefined ? countedName(scope) : `${budget.id} ${countedName(scope)}`;
      const alert = { scopeId, month: window.from, begunAt, thresholdCents };
      const unreported = await markSpendAlerts(executor, alert, reached);
      // Of several at once, the highest says it all.
      if (unreported.includes(highest)) await publish(executor, { bound, percent: highest, spentNanoDollars });
    });
    this.#reported.set(key, highest);
  }

  async #checkAll(): Promise<void> {
    const { spentIn, logger } = this.#options;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [key, bound] of pending) {
      try {
        await this.report(bound, await spentIn(bound.scope, bound.window));
      } catch (error) {
        const { budget, scope } = bound;
        logger.warn({ err: error, limit: budget?.id ?? scope.id }, "a spend limit could not be checked");
        if (!this.#pending.has(key)) this.#pending.set(key, bound);
      }
    }
  }
}

function keyOf({ countId, thresholdCents }: SpendBound): string {
  return `${countId} ${thresholdCents}`;
}
