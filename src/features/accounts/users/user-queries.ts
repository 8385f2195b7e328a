import type { Executor } from "../../../storage/database.ts";
import type { UserRow } from "../people-rows.ts";

/** Reference to a user within the caller's organization. */
export interface UserReference {
  organizationId: string;
  id: string;
}

/** Form in which addresses are stored and compared. */
export function toEmailKey(email: string): string {
  return email.trim().toLowerCase();
}

export async function insertUser(executor: Executor, row: UserRow): Promise<void> {
  await executor.insertInto("users").values(row).execute();
}

export async function findUser(executor: Executor, user: UserReference): Promise<UserRow | undefined> {
  return executor
    .selectFrom("users")
    .selectAll()
    .where("organizationId", "=", user.organizationId)
    .where("id", "=", user.id)
    .executeTakeFirst();
}

export async function findUsersByIds(executor: Executor, ids: readonly string[]): Promise<UserRow[]> {
  if (ids.length === 0) return [];
  return executor.selectFrom("users").selectAll().where("id", "in", ids).execute();
}

/** Finds the user of an address, regardless of case. */
export async function findUserByEmail(
  executor: Executor,
  organizationId: string,
  email: string,
): Promise<UserRow | undefined> {
  return executor
    .selectFrom("users")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("email", "=", toEmailKey(email))
    .executeTakeFirst();
}

/** Counts the owners who may sign in. */
export async function countOwners(executor: Executor, organizationId: string): Promise<number> {
  const { owners } = await executor
    .selectFrom("users")
    .select(({ fn }) => fn.countAll<number | string>().as("owners"))
    .where("organizationId", "=", organizationId)
    .where("role", "=", "owner")
    .where("disabledAt", "is", null)
    .executeTakeFirstOrThrow();
  return Number(owners);
}

export async function updateUser(
  executor: Executor,
  id: string,
  change: Partial<Pick<UserRow, "email" | "name" | "role" | "disabledAt" | "isScimManaged">>,
): Promise<void> {
  await executor.updateTable("users").set(change).where("id", "=", id).execute();
}

/** Deletes a user with memberships and roles. Keys are revoked separately, since usage refers to them. */
export async function deleteUser(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("roleAssignments").where("principalId", "=", id).execute();
  await executor.deleteFrom("users").where("id", "=", id).execute();
}

/** Records activity; keeps the later time when another process has written one. */
export async function recordActivity(executor: Executor, id: string, lastActiveAt: number): Promise<void> {
  await executor
    .updateTable("users")
    .set({ lastActiveAt })
    .where("id", "=", id)
    .where((where) => where.or([where("lastActiveAt", "is", null), where("lastActiveAt", "<", lastActiveAt)]))
    .execute();
}
