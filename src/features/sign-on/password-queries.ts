import type { Executor } from "../../storage/database.ts";
import type { PasswordLinkRow, UserPasswordRow } from "./sign-on-rows.ts";

export async function findPassword(executor: Executor, userId: string): Promise<UserPasswordRow | undefined> {
  return executor.selectFrom("userPasswords").selectAll().where("userId", "=", userId).executeTakeFirst();
}

export async function hasAnyPassword(executor: Executor): Promise<boolean> {
  return (await executor.selectFrom("userPasswords").select("userId").limit(1).executeTakeFirst()) !== undefined;
}

export async function putPassword(executor: Executor, row: UserPasswordRow): Promise<void> {
  const { hash, changedAt } = row;
  await executor
    .insertInto("userPasswords")
    .values(row)
    .onConflict((conflict) => conflict.column("userId").doUpdateSet({ hash, changedAt }))
    .execute();
}

export async function deletePassword(executor: Executor, userId: string): Promise<void> {
  await executor.deleteFrom("userPasswords").where("userId", "=", userId).execute();
}

/** Replaces the earlier links of the user. */
export async function putPasswordLink(executor: Executor, row: PasswordLinkRow): Promise<void> {
  await executor.deleteFrom("passwordLinks").where("userId", "=", row.userId).execute();
  await executor.insertInto("passwordLinks").values(row).execute();
}

export async function findPasswordLink(executor: Executor, tokenHash: string): Promise<PasswordLinkRow | undefined> {
  return executor.selectFrom("passwordLinks").selectAll().where("tokenHash", "=", tokenHash).executeTakeFirst();
}

/** Removes the links of a user, and those that have expired. */
export async function deletePasswordLinks(executor: Executor, userId: string, now: number): Promise<void> {
  await executor
    .deleteFrom("passwordLinks")
    .where((where) => where.or([where("userId", "=", userId), where("expiresAt", "<", now)]))
    .execute();
}
