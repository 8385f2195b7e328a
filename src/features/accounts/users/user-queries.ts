import { sql } from "kysely";
import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
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

/** Finds owners who are not disabled, in the order of their names. */
export function findOwners(executor: Executor, organizationId: string, limit: number): Promise<UserRow[]> {
  return executor
    .selectFrom("users")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("role", "=", "owner")
    .where("disabledAt", "is", null)
    .orderBy("name")
    .limit(limit)
    .execute();
}

type UserChange = Partial<Omit<UserRow, "id" | "organizationId" | "addedAt">>;

/** Changes a user, but not the role: `setOrganizationRole` does, and audits it. */
export async function updateUser(
  executor: Executor,
  id: string,
  change: Omit<UserChange, "role"> & { role?: never },
): Promise<void> {
  await updateUserRow(executor, id, change);
}

/** Changes a user, the role included, which the caller audits. */
export async function updateUserRow(executor: Executor, id: string, change: UserChange): Promise<void> {
  await executor.updateTable("users").set(change).where("id", "=", id).execute();
}

/** Deletes a user who has no roles any more. Keys are revoked separately, since usage refers to them. */
export async function deleteUser(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("users").where("id", "=", id).execute();
}

/** Records the last activity of the user to whom a key or a session belongs, if it belongs to one. */
export async function recordActivity(executor: Executor, keyOrSessionId: string, lastActiveAt: number): Promise<void> {
  const ofKey = executor.selectFrom("apiKeys").select("userId").where("id", "=", keyOrSessionId);
  const ofSession = executor.selectFrom("userSessions").select("userId").where("id", "=", keyOrSessionId);
  await executor
    .updateTable("users")
    .set({ lastActiveAt })
    .where((where) => where.or([where("id", "in", ofKey), where("id", "in", ofSession)]))
    .where((where) => where.or([where("lastActiveAt", "is", null), where("lastActiveAt", "<", lastActiveAt)]))
    .execute();
}

export interface UserFilter {
  emails?: readonly string[] | undefined;
  /** Part of the address or name. */
  search?: string | undefined;
}

export async function listUsers(
  executor: Executor,
  organizationId: string,
  { emails, search = "" }: UserFilter,
  request: PageRequest,
): Promise<Page<UserRow>> {
  const all = executor.selectFrom("users").selectAll().where("organizationId", "=", organizationId);
  let list = all;
  if (emails !== undefined) {
    list = emails.length === 0 ? list.where(sql<boolean>`1 = 0`) : list.where("email", "in", emails.map(toEmailKey));
  }
  if (search !== "") {
    const pattern = `%${search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
    const has = (column: "name" | "email") => sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
    list = list.where((where) => where.or([has("name"), has("email")]));
  }
  return readPage(request, "addedAt", all, list);
}

/** Finds the projects that users are in, without archived ones. */
export async function findProjectsOfUsers(
  executor: Executor,
  userIds: readonly string[],
): Promise<{ userId: string; id: string; name: string; roleId: string }[]> {
  if (userIds.length === 0) return [];
  return executor
    .selectFrom("projectUsers as member")
    .innerJoin("projects as project", "project.id", "member.projectId")
    .select(["member.userId", "project.id", "project.name", "member.roleId"])
    .where("member.userId", "in", userIds)
    .where("project.archivedAt", "is", null)
    .orderBy("project.createdAt")
    .orderBy("project.id")
    .execute();
}

/** Finds when a key of each user was last used. */
export async function findKeyUseOf(
  executor: Executor,
  userIds: readonly string[],
): Promise<{ userId: string | null; lastUsedAt: number | null }[]> {
  if (userIds.length === 0) return [];
  return executor
    .selectFrom("apiKeys")
    .select(({ fn }) => ["userId", fn.max("lastUsedAt").as("lastUsedAt")])
    .where("userId", "in", userIds)
    .groupBy("userId")
    .execute();
}
