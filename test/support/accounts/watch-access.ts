/**
 * Changes of what people may do, as the database itself writes them down, beside the audit log: whatever code makes a
 * change, it has to have an entry.
 */

import { sql } from "kysely";
import type { AuditLogRow } from "../../../src/features/accounts/account-rows.ts";
import type { InProcessService } from "../service/service.ts";

/** `principal`: user, group or key. `target`: the role or group. */
interface AccessChange {
  what: keyof typeof COVERED_BY;
  principal: string;
  target: string;
}

interface Entry extends Omit<AuditLogRow, "details"> {
  details: Readonly<Record<string, unknown>>;
}

type Covers = (entry: Entry, change: AccessChange) => boolean;

const givesRole: Covers = ({ type, details }, { principal, target }) =>
  type === "role.assignment.created" && details.principalId === principal && details.roleId === target;
const takesRole: Covers = ({ type, details }, { principal, target }) =>
  type === "role.assignment.deleted" && details.principalId === principal && details.roleId === target;
const isAbout =
  (wanted: string): Covers =>
  ({ type, resourceId }, { principal }) =>
    type === wanted && resourceId === principal;
// The entry of an erasure does not name whose data it was, nor do the earlier ones any more.
const erases: Covers = ({ type }) => type === "user.erased";
const names = (ids: unknown, id: string) => ids === id || (Array.isArray(ids) && ids.includes(id));

/** Entries of which one is about each kind of change. */
const COVERED_BY = {
  role_given: [givesRole],
  role_taken: [takesRole, erases],
  joined: [
    ({ type, resourceId, details }, { principal, target }) =>
      type === "group.updated" &&
      resourceId === target &&
      names(details.addedUserId ?? details.addedUserIds, principal),
  ],
  left: [
    ({ type, resourceId, details }, { principal, target }) =>
      type === "group.updated" &&
      resourceId === target &&
      names(details.removedUserId ?? details.removedUserIds, principal),
    ({ type, resourceId }, { target }) => type === "group.deleted" && resourceId === target,
    isAbout("user.deleted"),
    erases,
  ],
  user_added: [isAbout("user.added"), erases],
  user_deleted: [isAbout("user.deleted"), erases],
  user_role: [
    ({ type, resourceId, details }, { principal, target }) =>
      type === "user.updated" && resourceId === principal && details.role === target,
    ({ type, details }, { principal }) => type.startsWith("role.assignment.") && details.principalId === principal,
  ],
  group_added: [isAbout("group.created")],
  group_deleted: [isAbout("group.deleted")],
  group_managed: [
    ({ type, resourceId, details }, { principal }) =>
      type === "group.updated" && resourceId === principal && details.isScimManaged === true,
  ],
  identity_linked: [
    ({ type, resourceId, details }, { principal }) =>
      type === "user.updated" && resourceId === principal && details.linkedProvider !== undefined,
    erases,
  ],
  password_set: [
    ({ type, resourceId, details }, { principal }) =>
      type === "user.updated" && resourceId === principal && details.password === "set",
    erases,
  ],
  key_restored: [
    ({ type, resourceId, details }, { principal }) =>
      type === "api_key.updated" && resourceId === principal && details.restored === true,
  ],
} as const satisfies Readonly<Record<string, readonly Covers[]>>;

/** Event of a table → change, its principal and its target. */
const TRIGGERS: readonly [event: string, what: keyof typeof COVERED_BY, principal: string, target: string][] = [
  ["insert on role_assignments", "role_given", "new.principal_id", "new.role_id"],
  ["delete on role_assignments", "role_taken", "old.principal_id", "old.role_id"],
  ["insert on project_users", "role_given", "new.user_id", "new.role_id"],
  ["delete on project_users", "role_taken", "old.user_id", "old.role_id"],
  ["update of role_id on project_users when old.role_id <> new.role_id", "role_given", "new.user_id", "new.role_id"],
  ["insert on project_groups", "role_given", "new.group_id", "new.role_id"],
  ["delete on project_groups", "role_taken", "old.group_id", "old.role_id"],
  ["update of role_id on project_groups when old.role_id <> new.role_id", "role_given", "new.group_id", "new.role_id"],
  ["insert on group_members", "joined", "new.user_id", "new.group_id"],
  ["delete on group_members", "left", "old.user_id", "old.group_id"],
  ["insert on users", "user_added", "new.id", "new.role"],
  ["delete on users", "user_deleted", "old.id", "old.role"],
  ["update of role on users when old.role <> new.role", "user_role", "new.id", "new.role"],
  ["insert on groups", "group_added", "new.id", "''"],
  ["delete on groups", "group_deleted", "old.id", "''"],
  [
    "update of is_scim_managed on groups when old.is_scim_managed < new.is_scim_managed",
    "group_managed",
    "new.id",
    "''",
  ],
  ["insert on external_identities", "identity_linked", "new.user_id", "''"],
  ["insert on user_passwords", "password_set", "new.user_id", "''"],
  ["update of hash on user_passwords", "password_set", "new.user_id", "''"],
  [
    "update of revoked_at on api_keys when old.revoked_at is not null and new.revoked_at is null",
    "key_restored",
    "new.id",
    "''",
  ],
];

export interface AccessWatch {
  /** Changes since the last call without an entry in the audit log. */
  unaudited(): Promise<string[]>;
  /** Kinds of changes so far: what a test has shown. */
  readonly seen: ReadonlySet<string>;
}

/** Watches a service with SQLite from now on. */
export async function watchAccess({ accounts }: Pick<InProcessService, "accounts">): Promise<AccessWatch> {
  const seen = new Set<string>();
  let lastRow = await accounts.run(async (executor) => {
    await sql`create table watched_access (what text, principal text, target text)`.execute(executor);
    for (const [index, [event, what, principal, target]] of TRIGGERS.entries()) {
      const insert = `insert into watched_access values ('${what}', ${principal}, ${target})`;
      await sql.raw(`create trigger watch_access_${index} after ${event} begin ${insert}; end`).execute(executor);
    }
    const { rows } = await sql<{ last: number | null }>`select max(rowid) as last from audit_logs`.execute(executor);
    return rows[0]?.last ?? 0;
  });
  return {
    seen,
    async unaudited() {
      return accounts.run(async (executor) => {
        const changes = await sql<AccessChange>`delete from watched_access returning *`.execute(executor);
        const all = sql<AuditLogRow & { row: number }>`select rowid as row, * from audit_logs where rowid > ${lastRow}`;
        const { rows } = await all.execute(executor);
        lastRow = rows.at(-1)?.row ?? lastRow;
        const entries: Entry[] = rows.map((row) => ({ ...row, details: JSON.parse(row.details) }));
        for (const { what } of changes.rows) seen.add(what);
        return changes.rows
          .filter((change) => !entries.some((entry) => COVERED_BY[change.what].some((covers) => covers(entry, change))))
          .map(({ what, principal, target }) => `${what} ${principal} ${target}`);
      });
    },
  };
}
