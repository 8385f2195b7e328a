/**
 * Groups of providers in the organization: each group of the rules becomes a group here, with exactly the roles that the
 * rules give it. Roles that people have by other means stay.
 */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import type { AccountTransaction } from "../accounts/account-transaction.ts";
import { insertGroup, replaceGroupsOfUser, toNameKey } from "../accounts/groups/group-queries.ts";
import type { GroupRow } from "../accounts/people-rows.ts";
import { findActiveProjectByIdOrName } from "../accounts/projects/project-queries.ts";
import { BUILT_IN_ROLES } from "../accounts/roles/built-in-roles.ts";
import {
  deleteAssignmentsOf,
  findRoleByName,
  insertAssignment,
  putProjectGroup,
} from "../accounts/roles/role-queries.ts";
import type { GroupRule, ProviderSettings } from "./settings.ts";

type RuledProvider = Pick<ProviderSettings, "id" | "issuer" | "rules">;

/** Rule that cannot be applied, such as for a project that does not exist. */
export interface RuleProblem {
  provider: string;
  group: string;
  problem: string;
}

/** Name of a provider's group here. The prefix keeps it apart from groups of other sources with other roles. */
function groupName(provider: Pick<ProviderSettings, "id">, group: string): string {
  return `${provider.id}/${group === "*" ? "everyone" : group}`;
}

/** Names of the groups here that a person with these groups at the provider is in. */
export function groupsByRules({ id, rules }: Pick<RuledProvider, "id" | "rules">, groups: readonly string[]): string[] {
  const claimed = new Set(groups);
  const names = rules
    .filter(({ group }) => group === "*" || claimed.has(group))
    .map(({ group }) => groupName({ id }, group));
  return [...new Set(names)];
}

/** Names of the groups in which a user is by this issuer. */
export async function findGroupNames(executor: Executor, userId: string, issuer: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("groupMembers as member")
    .innerJoin("groups as group", "group.id", "member.groupId")
    .select("group.name")
    .where("member.userId", "=", userId)
    .where("member.source", "=", issuer)
    .execute();
  return rows.map(({ name }) => name);
}

/** Puts a user into exactly these groups of an issuer. Returns whether that changed any. */
export async function setGroups(
  { executor, now }: AccountTransaction,
  user: { id: string; organizationId: string },
  issuer: string,
  names: readonly string[],
): Promise<boolean> {
  const ids: string[] = [];
  for (const name of names) ids.push((await ensureGroup(executor, user.organizationId, name, now)).id);
  return replaceGroupsOfUser(executor, { userId: user.id, source: issuer }, ids, now);
}

/**
 * Gives the groups of all rules their roles, and removes groups and roles of earlier rules. Returns the rules that cannot
 * be applied.
 */
export async function applyRules(
  { executor, now }: AccountTransaction,
  organizationId: string,
  providers: readonly RuledProvider[],
): Promise<RuleProblem[]> {
  const problems: RuleProblem[] = [];
  const ruled = new Set<string>();
  for (const provider of providers) {
    for (const [groupOfRules, rules] of Map.groupBy(provider.rules, ({ group }) => group)) {
      const group = await ensureGroup(executor, organizationId, groupName(provider, groupOfRules), now);
      ruled.add(group.id);
      await removeRoles(executor, group.id);
      for (const rule of rules) {
        const problem = await giveRole(executor, group, rule, now);
        if (problem !== undefined) problems.push({ provider: provider.id, group: groupOfRules, problem });
      }
    }
  }
  for (const provider of providers) await removeFormerGroups(executor, organizationId, provider, ruled);
  return problems;
}

async function ensureGroup(executor: Executor, organizationId: string, name: string, now: number): Promise<GroupRow> {
  const existing = await executor
    .selectFrom("groups")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("nameKey", "=", toNameKey(name))
    .executeTakeFirst();
  if (existing !== undefined) return existing;
  const id = newId("group_");
  const row: GroupRow = { id, organizationId, name, nameKey: toNameKey(name), isScimManaged: 0, createdAt: now };
  await insertGroup(executor, row);
  return row;
}

async function removeRoles(executor: Executor, groupId: string): Promise<void> {
  await deleteAssignmentsOf(executor, groupId);
  await executor.deleteFrom("projectGroups").where("groupId", "=", groupId).execute();
}

/** Returns why the rule cannot be applied. */
async function giveRole(
  executor: Executor,
  { id: groupId, organizationId }: GroupRow,
  rule: GroupRule,
  now: number,
): Promise<string | undefined> {
  if (rule.role !== undefined) {
    const roleId = await findRoleId(executor, organizationId, rule.role, false);
    if (roleId === undefined) return `The organization has no role \`${rule.role}\`.`;
    await insertAssignment(executor, {
      organizationId,
      scopeId: organizationId,
      principalId: groupId,
      roleId,
      createdAt: now,
    });
  }
  if (rule.project === undefined) return undefined;
  const project = await findActiveProjectByIdOrName(executor, organizationId, rule.project);
  if (project === undefined) return `There is no project \`${rule.project}\`.`;
  const roleName = rule.projectRole ?? "member";
  const roleId = await findRoleId(executor, project.id, roleName, true);
  if (roleId === undefined) return `The project \`${rule.project}\` has no role \`${roleName}\`.`;
  await putProjectGroup(executor, { projectId: project.id, groupId, roleId, addedAt: now });
  return undefined;
}

async function findRoleId(
  executor: Executor,
  scopeId: string,
  name: string,
  isOfProject: boolean,
): Promise<string | undefined> {
  const nameKey = toNameKey(name);
  const builtIn = BUILT_IN_ROLES.find((role) => role.isOfProject === isOfProject && role.name === nameKey);
  return builtIn?.id ?? (await findRoleByName(executor, scopeId, nameKey))?.id;
}

/** Removes the roles and members of groups that the rules of a provider no longer have. */
async function removeFormerGroups(
  executor: Executor,
  organizationId: string,
  { id, issuer }: RuledProvider,
  ruled: ReadonlySet<string>,
): Promise<void> {
  const members = await executor
    .selectFrom("groupMembers as member")
    .innerJoin("groups as group", "group.id", "member.groupId")
    .select(["group.id", "group.name"])
    .distinct()
    .where("group.organizationId", "=", organizationId)
    .where("member.source", "=", issuer)
    .execute();
  for (const group of members) {
    if (ruled.has(group.id) || !group.name.startsWith(`${id}/`)) continue;
    await removeRoles(executor, group.id);
    await executor.deleteFrom("groupMembers").where("groupId", "=", group.id).where("source", "=", issuer).execute();
  }
}
