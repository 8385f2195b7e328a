/** Reads how much of a budget is spent in its present window. */

import { NO_END, type SpendWindow, spendWindow } from "../quota/index.ts";
import type { SubjectSpend, UsageStorage } from "../usage/index.ts";
import type { ApplicableBudget } from "./applicable-budget.ts";

export interface SpentInWindow {
  spentNanoDollars: number;
  from: number;
  /** Undefined: it does not reset. */
  until: number | undefined;
}

export class BudgetUsage {
  readonly #usage: Pick<UsageStorage, "spentIn" | "reports">;

  constructor(usage: Pick<UsageStorage, "spentIn" | "reports">) {
    this.#usage = usage;
  }

  /** What the subject has spent; undefined for a budget that each subject has for itself. */
  async read(budget: ApplicableBudget, now: number): Promise<SpentInWindow | undefined> {
    const id = budget.subject === "organization" ? budget.organizationId : budget.subjectId;
    return id === null ? undefined : this.readOf(budget, id, now);
  }

  async readOf(budget: ApplicableBudget, subjectId: string, now: number): Promise<SpentInWindow> {
    const { organizationId, projectId, subject } = budget;
    const window = windowOf(budget, now);
    const scope = { organizationId, projectId, subject, id: subjectId };
    return { spentNanoDollars: await this.#usage.spentIn(scope, window), ...toShownWindow(window) };
  }

  /** The subjects that have spent most, of at least so many nano-dollars. */
  async top(
    budget: ApplicableBudget,
    now: number,
    { minNanoDollars, limit }: { minNanoDollars: number; limit: number },
  ): Promise<SubjectSpend[]> {
    const { organizationId, projectId, subject, subjectId } = budget;
    const window = windowOf(budget, now);
    if (subject === "organization" || subjectId !== null) {
      const id = subjectId ?? organizationId;
      const spent = await this.#usage.spentIn({ organizationId, projectId, subject, id }, window);
      return spent >= minNanoDollars ? [{ id, spent }] : [];
    }
    const bounds = { minNanoDollars, limit };
    return this.#usage.reports.topSpenders({ organizationId, projectId, subject }, window, bounds);
  }
}

export function windowOf({ period, startsAt }: ApplicableBudget, now: number): SpendWindow {
  return spendWindow(period, now, startsAt);
}

export function toShownWindow({ from, until }: SpendWindow): Omit<SpentInWindow, "spentNanoDollars"> {
  return { from, until: until === NO_END ? undefined : until };
}
