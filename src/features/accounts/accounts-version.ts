/** Version that every change to accounts increments: replicas poll it to invalidate their cached keys. */

import type { Executor } from "../../storage/database.ts";

export async function readAccountsVersion(executor: Executor): Promise<number> {
  const row = await executor.selectFrom("accountChanges").select("version").executeTakeFirstOrThrow();
  return row.version;
}

/** Must be first in a transaction: the row lock serializes changes to accounts. */
export async function incrementAccountsVersion(executor: Executor): Promise<void> {
  await executor
    .updateTable("accountChanges")
    .set((row) => ({ version: row("version", "+", 1) }))
    .execute();
}
