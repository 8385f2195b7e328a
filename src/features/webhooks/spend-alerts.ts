/** Reports when what a month has cost reaches 50, 80 and 100 % of a spend limit. */

import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { Caller } from "../accounts/caller.ts";
import type { SpentAmount } from "../quota/spend-limits.ts";
import { markSpendAlerts } from "./alert-queries.ts";
import type { WebhookOutbox } from "./webhook-outbox.ts";

export interface SpendAlertsOptions {
  database: Database;
  outbox: WebhookOutbox;
  logger: Logger;
  /** Nano-dollars that a scope has spent in a month. */
  spentIn: (caller: Caller, scopeId: string, month: SpentAmount["month"]) => Promise<number>;
}

const PERCENTS = [50, 80, 100] as const;
const CHECK_MS = 1_000;
const NANO_DOLLARS_PER_CENT = 10_000_000;

export class SpendAlerts {
  readonly #options: SpendAlertsOptions;
  readonly #poll: Poll;
  /** Amounts to check, by limit. */
  #pending = new Map<string, SpentAmount>();
  /** Highest percentage of each limit that is reported. */
  readonly #reported = new Map<string, number>();
  #month = 0;

  constructor(options: SpendAlertsOptions) {
    this.#options = options;
    this.#poll = new Poll(() => this.#checkAll(), { everyMs: CHECK_MS });
  }

  /** Called at the end of each request with a limit. */
  note(spent: SpentAmount): void {
    const { limit, month, atMost } = spent;
    if (month.from !== this.#month) this.#reported.clear();
    this.#month = month.from;
    const key = keyOf(spent);
    const next = PERCENTS.find((percent) => percent > (this.#reported.get(key) ?? 0));
    if (next !== undefined && atMost >= (thresholdOf(limit) * next) / 100) this.#pending.set(key, spent);
  }

  /** Compares noted limits with what the database has recorded. */
  check(): Promise<void> {
    return this.#poll.run();
  }

  async close(): Promise<void> {
    await this.check();
    await this.#poll.close();
  }

  async #checkAll(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [key, spent] of pending) {
      try {
        await this.#report(key, spent);
      } catch (error) {
        this.#options.logger.warn({ err: error, scopeId: spent.limit.scopeId }, "a spend limit could not be checked");
        if (!this.#pending.has(key)) this.#pending.set(key, spent);
      }
    }
  }

  async #report(key: string, { caller, limit, month }: SpentAmount): Promise<void> {
    const { database, outbox, spentIn } = this.#options;
    const { scopeId, thresholdCents, begunAt } = limit;
    const spent = await spentIn(caller, scopeId, month);
    const reached = PERCENTS.filter((percent) => spent >= (thresholdOf(limit) * percent) / 100);
    const highest = reached.at(-1);
    if (highest === undefined || highest <= (this.#reported.get(key) ?? 0)) return;
    await database.transaction(async (executor) => {
      const alert = { scopeId, month: month.from, begunAt, thresholdCents };
      const unreported = await markSpendAlerts(executor, alert, reached);
      // Of several at once, the highest says it all.
      if (!unreported.includes(highest)) return;
      const data = {
        scope_id: scopeId,
        organization_id: caller.organizationId,
        percent: highest,
        limit: { value: thresholdCents / 100, currency: "usd" as const },
        spent: { value: spent / 1e9, currency: "usd" as const },
        month: new Date(month.from).toISOString().slice(0, 10),
        is_enforcing: limit.isEnforcing === 1,
      };
      await outbox.add(executor, { type: "spend_limit.reached", data }, Date.now());
    });
    this.#reported.set(key, highest);
  }
}

function keyOf({ limit, month }: SpentAmount): string {
  return `${limit.scopeId} ${month.from} ${limit.begunAt} ${limit.thresholdCents}`;
}

function thresholdOf({ thresholdCents }: SpentAmount["limit"]): number {
  return thresholdCents * NANO_DOLLARS_PER_CENT;
}
