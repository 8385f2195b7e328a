/** Client secrets of the Realtime API: which key a secret stands for, and its encrypted session configuration. */

import type { Executor } from "../../storage/database.ts";
import type { ClientSecretRow } from "./client-secret-rows.ts";

export async function insertClientSecret(executor: Executor, row: ClientSecretRow): Promise<void> {
  await executor.insertInto("clientSecrets").values(row).execute();
}

/** Finds a secret with the hash of its key, which may no longer work. */
export async function findClientSecret(
  executor: Executor,
  secretHash: string,
): Promise<(ClientSecretRow & { keyHash: string }) | undefined> {
  return executor
    .selectFrom("clientSecrets as secret")
    .innerJoin("apiKeys as key", "key.id", "secret.keyId")
    .selectAll("secret")
    .select("key.keyHash")
    .where("secret.secretHash", "=", secretHash)
    .executeTakeFirst();
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
