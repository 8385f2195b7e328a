/** Client secrets of the Realtime API, by the keys that created them, with what is encrypted in each. */

import type { Executor } from "../../storage/database.ts";
import type { ClientSecretRow } from "./client-secret-rows.ts";

export async function insertClientSecret(executor: Executor, row: ClientSecretRow): Promise<void> {
  await executor.insertInto("clientSecrets").values(row).execute();
}

export async function findClientSecret(executor: Executor, secretHash: string): Promise<ClientSecretRow | undefined> {
  return executor.selectFrom("clientSecrets").selectAll().where("secretHash", "=", secretHash).executeTakeFirst();
}

export async function removeExpiredClientSecrets(executor: Executor, now: number): Promise<void> {
  await executor.deleteFrom("clientSecrets").where("expiresAt", "<=", now).execute();
}

/** Counts the secrets of a key. */
export async function countClientSecrets(executor: Executor, keyId: string): Promise<number> {
  const { count } = await executor
    .selectFrom("clientSecrets")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("keyId", "=", keyId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
