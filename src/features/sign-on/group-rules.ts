/**
 * Groups of providers in the organization: each group of the rules becomes a group of its provider here, with exactly the
 * roles that the rules give it. Nobody changes it by hand. Roles that people have by other means stay.
 */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import {
  type AccountTransaction,
  type AccountTransactions,
  BUILT_IN_ROLES,
  findDefaultOrganization,
  findGroupsByName,
  type GroupRow,
  OPERATOR,
  type Resolution,
  type RoleOfGroup,
  removeGroup,
  resolveName,
  setGroupsOfUser,
  setRolesOfGroup,
  storeGroup,
  toNameKey,
} from "../accounts/index.ts";
import type { GroupRule, ProviderSettings } from "./settings.ts";

type RuledProvider = Pick<ProviderSettings, "id" | "issuer" | "rules">;

/** Rule that cannot be applied, such as for a project that does not exist. */
export interface RuleProblem {
  provider: string;
  group: string;
  problem: string;
}

/** Groups of the rules, by their names at the provider, that a person with these groups there is in. */
export function groupsByRules({ rules }: Pick<RuledProvider, "rules">, groups: readonly string[]): string[] {
  const claimed = new Set(groups);
  return [...new Set(rules.map(({ group }) => group).filter((group) => group === "*" || claimed.has(group)))];
}

/** Groups in which a user is by a provider, by their names there. */
export async function findProviderGroups(
  executor: Executor,
  userId: string,
  { id, issuer }: Pick<RuledProvider, "id" | "issuer">,
): Promise<string[]> {
  const rows = await executor
    .selectFrom("groupMembers as member")
    .innerJoin("groups as group", "group.id", "member.groupId")
    .select("group.providerGroup")
    .where("member.userId", "=", userId)
    .where("member.source", "=", issuer)
    .where("group.providerId", "=", id)
    .execute();
  return rows.flatMap(({ providerGroup }) => providerGroup ?? []);
}

/** Puts a user into exactly these groups of a provider. Returns whether that changed any. */
export async function setGroups(
  transaction: AccountTransaction,
  user: { id: string; organizationId: string },
  provider: Pick<RuledProvider, "id" | "issuer">,
  groups: readonly string[],
): Promise<boolean> {
  const ids: string[] = [];
  for (const group of groups) ids.push((await ensureGroup(transaction, user.organizationId, provider.id, group)).id);
  return setGroupsOfUser(transaction, user, provider.issuer, ids);
}

/**
 * Gives the groups of all rules their roles, and deletes those of earlier rules and of removed providers. Returns the
 * rules that cannot be applied.
 */
export async function applyRules(
  transaction: AccountTransaction,
  organizationId: string,
  providers: readonly RuledProvider[],
): Promise<RuleProblem[]> {
  const { executor, now } = transaction;
  const problems: RuleProblem[] = [];
  const ruled = new Set<string>();
  for (const provider of providers) {
    for (const [groupOfRules, rules] of Map.groupBy(provider.rules, ({ group }) => group)) {
      const group = await ensureGroup(transaction, organizationId, provider.id, groupOfRules);
      ruled.add(group.id);
      const roles: RoleOfGroup[] = [];
      for (const rule of rules) {
        const given = await findRoles(executor, organizationId, rule, now);
        roles.push(...given.roles);
        if (given.problem !== undefined) {
          problems.push({ provider: provider.id, group: groupOfRules, problem: given.problem });
        }
      }
      await setRolesOfGroup(transaction, group, roles);
    }
  }
  for (const group of await findGroupsOfProviders(executor, organizationId)) {
    if (!ruled.has(group.id)) await removeGroup(transaction, group);
  }
  return problems;
}

/** Deletes what rules of providers gave, when the configuration has none any more. */
export async function removeGroupsOfProviders(transactions: AccountTransactions): Promise<void> {
  const organization = await transactions.database.run(findDefaultOrganization);
  if (organization === undefined) return;
  const groups = await transactions.database.run((executor) => findGroupsOfProviders(executor, organization.id));
  if (groups.length > 0)
    await transactions.run(OPERATOR, (transaction) => applyRules(transaction, organization.id, []));
}

/** Finds all groups that the rules of providers made, of removed providers too. */
async function findGroupsOfProviders(executor: Executor, organizationId: string): Promise<GroupRow[]> {
  return executor
    .selectFrom("groups")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("providerId", "is not", null)
    .execute();
}

/** Finds a group of a provider or creates it. A group by hand or by SCIM with its name is another group. */
async function ensureGroup(
  transaction: AccountTransaction,
  organizationId: string,
  providerId: string,
  providerGroup: string,
): Promise<GroupRow> {
  const { executor, now } = transaction;
  const existing = await executor
    .selectFrom("groups")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("providerId", "=", providerId)
    .where("providerGroup", "=", providerGroup)
    .executeTakeFirst();
  if (existing !== undefined) return existing;
  const id = newId("group_");
  const name = `${providerId}/${providerGroup === "*" ? "everyone" : providerGroup}`;
  const isTaken = (await findGroupsByName(executor, organizationId, [name])).length > 0;
  const nameKey = isTaken ? `${toNameKey(name)} ${id}` : toNameKey(name);
  const common = { id, organizationId, name, nameKey, isScimManaged: 0, createdAt: now };
  const row: GroupRow = { ...common, providerId, providerGroup };
  await storeGroup(transaction, row);
  return row;
}

/** Finds the roles that a rule gives, and why it cannot be applied, or not all of it. */
async function findRoles(
  executor: Executor,
  organizationId: string,
  rule: GroupRule,
  now: number,
): Promise<{ roles: RoleOfGroup[]; problem?: string }> {
  const roles: RoleOfGroup[] = [];
  if (rule.role !== undefined) {
    const role = await resolveRole(executor, { organizationId, scopeId: organizationId, text: rule.role }, now);
    if (role.problem !== undefined) return { roles, problem: `In the organization: ${role.problem}` };
    roles.push({ roleId: role.id, projectId: undefined });
  }
  if (rule.project === undefined) return { roles };
  const reference = { organizationId, scopeId: organizationId, kind: "project", text: rule.project } as const;
  const project = await resolveName(executor, reference, now);
  if (project.problem !== undefined) return { roles, problem: project.problem };
  const ofProject = { organizationId, scopeId: project.id, text: rule.projectRole ?? "member" };
  const role = await resolveRole(executor, ofProject, now);
  if (role.problem !== undefined) return { roles, problem: `In the project \`${rule.project}\`: ${role.problem}` };
  return { roles: [...roles, { roleId: role.id, projectId: project.id }] };
}

async function resolveRole(
  executor: Executor,
  reference: { organizationId: string; scopeId: string; text: string },
  now: number,
): Promise<Resolution> {
  const { organizationId, scopeId, text } = reference;
  const isOfProject = scopeId !== organizationId;
  const builtIn = BUILT_IN_ROLES.find(
    (role) => role.isOfProject === isOfProject && [role.id, role.name].includes(toNameKey(text)),
  );
  return builtIn === undefined ? resolveName(executor, { ...reference, kind: "role" }, now) : { id: builtIn.id };
}
