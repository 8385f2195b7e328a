/** What was reported already, so that one of several replicas reports it. */

import type { Executor } from "../../storage/database.ts";
import type { SpendAlertRow } from "./budget-rows.ts";

/** Returns the percentages that nobody has reported yet, and marks them as reported. */
export async function markSpendAlerts(
  executor: Executor,
  alert: Omit<SpendAlertRow, "percent">,
  percents: readonly number[],
): Promise<number[]> {
  const inserted = await executor
    .insertInto("spendAlerts")
    .values(percents.map((percent) => ({ ...alert, percent })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("percent")
    .execute();
  return inserted.map(({ percent }) => percent);
}
