import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { InviteRow } from "../people-rows.ts";

/** Reference to an invite within the caller's organization. */
export interface InviteReference {
  organizationId: string;
  id: string;
}

export async function insertInvite(executor: Executor, row: InviteRow): Promise<void> {
  await executor.insertInto("invites").values(row).execute();
}

export async function findInvite(executor: Executor, invite: InviteReference): Promise<InviteRow | undefined> {
  return executor
    .selectFrom("invites")
    .selectAll()
    .where("organizationId", "=", invite.organizationId)
    .where("id", "=", invite.id)
    .executeTakeFirst();
}

export async function findInviteByTokenHash(executor: Executor, tokenHash: string): Promise<InviteRow | undefined> {
  return executor.selectFrom("invites").selectAll().where("tokenHash", "=", tokenHash).executeTakeFirst();
}

/** Finds the newest invite of an address that can be accepted. */
export async function findPendingInvite(
  executor: Executor,
  organizationId: string,
  email: string,
  now: number,
): Promise<InviteRow | undefined> {
  return executor
    .selectFrom("invites")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("email", "=", email)
    .where("acceptedAt", "is", null)
    .where("expiresAt", ">", now)
    .orderBy("createdAt", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function listInvites(
  executor: Executor,
  organizationId: string,
  request: PageRequest,
): Promise<Page<InviteRow>> {
  return readPage(
    request,
    "createdAt",
    executor.selectFrom("invites").selectAll().where("organizationId", "=", organizationId),
  );
}

export async function markInviteAccepted(
  executor: Executor,
  id: string,
  accepted: { acceptedAt: number; userId: string },
): Promise<void> {
  await executor.updateTable("invites").set(accepted).where("id", "=", id).execute();
}

export async function deleteInvite(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("invites").where("id", "=", id).execute();
}
