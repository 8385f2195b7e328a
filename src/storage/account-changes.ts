/** A number that rises with every change to accounts, so that each process notices the others' changes cheaply. */

import type { Executor } from "./database.ts";

export async function readAccountsVersion(executor: Executor): Promise<number> {
  const row = await executor.selectFrom("accountChanges").select("version").executeTakeFirstOrThrow();
  return row.version;
}

/** First in a transaction: it makes changes to accounts come one after the other, so that each sees the one before. */
export async function raiseAccountsVersion(executor: Executor): Promise<void> {
  await executor
    .updateTable("accountChanges")
    .set((row) => ({ version: row("version", "+", 1) }))
    .execute();
}
