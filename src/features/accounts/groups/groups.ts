/** Groups of users. */

import { Fault } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { checkName } from "../name.ts";
import type { GroupRow, UserRow } from "../people-rows.ts";
import { type Author, checkMayManageGroup } from "../roles/may-grant.ts";
import { takeRoles } from "../roles/role-changes.ts";
import { findExistingUser } from "../users/users.ts";
import {
  deleteGroup,
  deleteGroupMember,
  deleteMembershipsBySource,
  findGroup,
  findGroupIdsOfUser,
  findGroupMember,
  findGroupsByName,
  type GroupReference,
  insertGroup,
  insertGroupMember,
  listGroupMembers,
  listGroups,
  toNameKey,
  updateGroup,
} from "./group-queries.ts";

export class Groups {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  async list(organizationId: string, request: PageRequest): Promise<Page<GroupRow>> {
    return this.#transactions.database.run((executor) => listGroups(executor, organizationId, request));
  }

  /** Throws a Fault when the group does not exist. */
  async retrieve(reference: GroupReference): Promise<GroupRow> {
    return this.#transactions.database.run((executor) => findExistingGroup(executor, reference));
  }

  /** Throws a Fault for an invalid or taken name. */
  async create(author: Author, organizationId: string, name: string): Promise<GroupRow> {
    return this.#transactions.run(author, (transaction) => addGroup(transaction, organizationId, name, false));
  }

  /**
   * Throws a Fault for an invalid or taken name, for a group that a SCIM client manages, and when the author does not have
   * the permissions that the group gives.
   */
  async rename(author: Author, reference: GroupReference, name: string): Promise<GroupRow> {
    return this.#transactions.run(author, async (transaction) => {
      const group = await findExistingGroup(transaction.executor, reference);
      refuseManaged(group);
      await checkMayManageGroup(transaction.executor, author, group);
      return renameGroup(transaction, group, name);
    });
  }

  /** Deletes a group, with the roles that its members had by it. Throws a Fault as `rename`. */
  async delete(author: Author, reference: GroupReference): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const group = await findExistingGroup(transaction.executor, reference);
      refuseManaged(group);
      await checkMayManageGroup(transaction.executor, author, group);
      await removeGroup(transaction, group);
    });
  }

  /** Throws a Fault when the group does not exist. */
  async listMembers(reference: GroupReference, request: PageRequest): Promise<Page<UserRow>> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingGroup(executor, reference);
      return listGroupMembers(executor, reference.id, request);
    });
  }

  /** Throws a Fault when the user is not in the group. */
  async retrieveMember(reference: GroupReference, userId: string): Promise<UserRow> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingGroup(executor, reference);
      const user = await findGroupMember(executor, reference.id, userId);
      if (user === undefined) throw notInGroup(userId, reference.id);
      return user;
    });
  }

  /** Throws a Fault when the author does not have the permissions that the group gives. */
  async addMember(author: Author, reference: GroupReference, userId: string): Promise<void> {
    await this.#transactions.run(author, async ({ executor, now, audit }) => {
      const group = await findExistingGroup(executor, reference);
      refuseManaged(group);
      const { organizationId } = reference;
      const user = await findExistingUser(executor, { organizationId, id: userId });
      await checkMayManageGroup(executor, author, group);
      const member = { groupId: group.id, userId: user.id, source: "manual", createdAt: now };
      if (!(await insertGroupMember(executor, member))) return;
      await audit({ type: "group.updated", organizationId, resourceId: group.id, details: { addedUserId: user.id } });
    });
  }

  /** Throws a Fault when the user is not in the group, or the author does not have the permissions that it gives. */
  async removeMember(author: Author, reference: GroupReference, userId: string): Promise<void> {
    await this.#transactions.run(author, async ({ executor, audit }) => {
      const group = await findExistingGroup(executor, reference);
      refuseManaged(group);
      await checkMayManageGroup(executor, author, group);
      if (!(await deleteGroupMember(executor, group.id, userId))) throw notInGroup(userId, group.id);
      const { organizationId } = reference;
      await audit({ type: "group.updated", organizationId, resourceId: group.id, details: { removedUserId: userId } });
    });
  }
}

/** Adds a group. Throws a Fault for an invalid or taken name. */
export async function addGroup(
  transaction: AccountTransaction,
  organizationId: string,
  name: string,
  isScimManaged: boolean,
): Promise<GroupRow> {
  const checked = await checkGroupName(transaction.executor, organizationId, name, undefined);
  const group: GroupRow = {
    id: newId("group_"),
    organizationId,
    name: checked,
    nameKey: toNameKey(checked),
    isScimManaged: isScimManaged ? 1 : 0,
    createdAt: transaction.now,
  };
  await storeGroup(transaction, group);
  return group;
}

/** Stores a group whose name is free, and audits that. */
export async function storeGroup({ executor, audit }: AccountTransaction, group: GroupRow): Promise<void> {
  await insertGroup(executor, group);
  const { id, organizationId, name: groupName } = group;
  await audit({ type: "group.created", organizationId, resourceId: id, details: { groupName } });
}

/** Throws a Fault for an invalid or taken name. */
export async function renameGroup(
  { executor, audit }: AccountTransaction,
  group: GroupRow,
  name: string,
): Promise<GroupRow> {
  const { id, organizationId } = group;
  const checked = await checkGroupName(executor, organizationId, name, id);
  if (group.name === checked) return group;
  const change = { name: checked, nameKey: toNameKey(checked) };
  await updateGroup(executor, id, change);
  await audit({ type: "group.updated", organizationId, resourceId: id, details: { groupName: checked } });
  return { ...group, ...change };
}

/** Deletes a group with its roles. What its author may take is checked before. */
export async function removeGroup(transaction: AccountTransaction, group: GroupRow): Promise<void> {
  const { executor, audit } = transaction;
  const { id, organizationId } = group;
  await takeRoles(transaction, { organizationId, projectId: undefined }, { type: "group", id }, "checked");
  await deleteGroup(executor, id);
  await audit({ type: "group.deleted", organizationId, resourceId: id, details: {} });
}

/**
 * Puts a user into exactly these groups by one source, and audits what that changes; memberships by other sources stay.
 * Returns whether any changed.
 */
export async function setGroupsOfUser(
  { executor, now, audit }: AccountTransaction,
  { id: userId, organizationId }: Pick<UserRow, "id" | "organizationId">,
  source: string,
  groupIds: readonly string[],
): Promise<boolean> {
  const before = new Set(await findGroupIdsOfUser(executor, userId, source));
  const after = new Set(groupIds);
  const removed = [...before].filter((id) => !after.has(id));
  const added = [...after].filter((id) => !before.has(id));
  await deleteMembershipsBySource(executor, { userId, source }, removed);
  for (const groupId of added) await insertGroupMember(executor, { groupId, userId, source, createdAt: now });
  const changes = [
    ...removed.map((id) => ({ id, details: { removedUserId: userId, source } })),
    ...added.map((id) => ({ id, details: { addedUserId: userId, source } })),
  ];
  for (const { id, details } of changes) {
    await audit({ type: "group.updated", organizationId, resourceId: id, details });
  }
  return changes.length > 0;
}

/** Throws a Fault when the group does not exist. */
export async function findExistingGroup(executor: Executor, reference: GroupReference): Promise<GroupRow> {
  const group = await findGroup(executor, reference);
  if (group === undefined) throw noSuchGroup(reference.id);
  return group;
}

export function noSuchGroup(id: string): Fault {
  return new Fault("not-found", `There is no group \`${id.slice(0, 100)}\`.`);
}

async function checkGroupName(
  executor: Executor,
  organizationId: string,
  name: string,
  ownId: string | undefined,
): Promise<string> {
  const checked = checkName(name);
  const [existing] = await findGroupsByName(executor, organizationId, [checked]);
  if (existing === undefined || existing.id === ownId) return checked;
  throw new Fault("conflict", `A group with the name \`${checked}\` exists already. Choose another name.`, {
    code: "group_exists",
  });
}

/** Throws a Fault for a group whose members or roles the rules of a sign-on provider decide. */
export function refuseProviderGroup({ name, providerId }: GroupRow): void {
  if (providerId == null) return;
  const message = `The rules of the sign-on provider \`${providerId}\` manage the group \`${name}\`. Change them in \`sign_on.providers\`.`;
  throw new Fault("conflict", message, { code: "provider_managed" });
}

function refuseManaged(group: GroupRow): void {
  refuseProviderGroup(group);
  if (group.isScimManaged !== 1) return;
  const message = `The identity provider manages the group \`${group.name}\` by SCIM. Change it there.`;
  throw new Fault("conflict", message, { code: "scim_managed" });
}

function notInGroup(userId: string, groupId: string): Fault {
  return new Fault("not-found", `The user \`${userId.slice(0, 100)}\` is not in the group \`${groupId}\`.`);
}
