import type { Executor } from "../../storage/database.ts";
import type { ExternalIdentityRow } from "./sign-on-rows.ts";

export async function findIdentity(
  executor: Executor,
  issuer: string,
  subject: string,
): Promise<ExternalIdentityRow | undefined> {
  return executor
    .selectFrom("externalIdentities")
    .selectAll()
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
}

/** Finds the identities of a user, oldest first. */
export async function findIdentitiesOf(executor: Executor, userId: string): Promise<ExternalIdentityRow[]> {
  return executor
    .selectFrom("externalIdentities")
    .selectAll()
    .where("userId", "=", userId)
    .orderBy("createdAt")
    .execute();
}

export async function insertIdentity(executor: Executor, row: ExternalIdentityRow): Promise<void> {
  await executor.insertInto("externalIdentities").values(row).execute();
}

export async function recordIdentityUse(
  executor: Executor,
  { issuer, subject }: Pick<ExternalIdentityRow, "issuer" | "subject">,
  lastUsedAt: number,
): Promise<void> {
  await executor
    .updateTable("externalIdentities")
    .set({ lastUsedAt })
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .execute();
}
