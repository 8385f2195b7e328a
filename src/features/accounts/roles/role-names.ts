import type { Executor } from "../../../storage/database.ts";
import { builtInRole } from "./built-in-roles.ts";
import { findRolesByIds } from "./role-queries.ts";

/** Adds the names of roles to entries that have their IDs. */
export async function withRoleNames<Entry extends { roleId: string }>(
  executor: Executor,
  entries: readonly Entry[],
): Promise<(Entry & { role: string })[]> {
  const custom = entries.map(({ roleId }) => roleId).filter((id) => builtInRole(id) === undefined);
  const names = new Map((await findRolesByIds(executor, [...new Set(custom)])).map(({ id, name }) => [id, name]));
  return entries.map((entry) => ({
    ...entry,
    role: builtInRole(entry.roleId)?.name ?? names.get(entry.roleId) ?? entry.roleId,
  }));
}
