/** Groups as a SCIM client manages them. */

import type { Executor } from "../../storage/database.ts";
import { GROUP_TYPE } from "../../wire/scim/attributes.ts";
import { type Attributes, readObject, readResource, readValue } from "../../wire/scim/read-resource.ts";
import { isSelected, type Selection, toScimResource } from "../../wire/scim/resources.ts";
import { scimFault } from "../../wire/scim/scim-error.ts";
import { requiredValue } from "../../wire/scim/scim-filter.ts";
import { applyPatch, findTarget, type PatchOperation, type PatchTarget } from "../../wire/scim/scim-patch.ts";
import {
  type AccountTransaction,
  type AccountTransactions,
  type Author,
  addGroup,
  checkMayManageGroup,
  findExistingGroup,
  type GroupReference,
  type GroupRow,
  refuseProviderGroup,
  removeGroup,
  renameGroup,
  updateGroup,
} from "../accounts/index.ts";
import { checkVersion } from "./check-version.ts";
import type { ResourceSource } from "./scim-list.ts";
import {
  addScimMembers,
  countScimGroups,
  findMembersOf,
  findMissingUsers,
  listScimGroups,
  removeScimMembers,
} from "./scim-queries.ts";
import type { ScimWrite } from "./scim-users.ts";

/** IDs that an audit entry lists. */
const MAX_AUDITED = 100;
/** Operations of a PATCH that replace all members: each reads and compares them. */
const MAX_REPLACEMENTS = 10;

export class ScimGroups {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  source(organizationId: string, base: string, selection: Selection): ResourceSource {
    const { database } = this.#transactions;
    const withMembers = isSelected(selection, "members");
    return {
      type: GROUP_TYPE,
      count: () => database.run((executor) => countScimGroups(executor, organizationId)),
      list: (lookup, slice) =>
        database.run(async (executor) =>
          toResources(executor, await listScimGroups(executor, organizationId, lookup, slice), base, withMembers),
        ),
    };
  }

  /** Throws a Fault when the group does not exist. */
  async retrieve(reference: GroupReference, base: string, selection: Selection) {
    return this.#transactions.database.run(async (executor) =>
      toResource(executor, await findExistingGroup(executor, reference), base, isSelected(selection, "members")),
    );
  }

  /** Throws a Fault for a name of another group, and for members that do not exist. */
  async create({ author, organizationId, base }: ScimWrite, body: unknown) {
    const attributes = readResource(GROUP_TYPE, body);
    return this.#transactions.run(author, async (transaction) => {
      const group = await addGroup(transaction, organizationId, displayNameOf(attributes), true);
      await storeExternalId(transaction, group, attributes);
      await addMembers(transaction, group, memberIds(attributes.members));
      return toResource(transaction.executor, { ...group, ...externalIdOf(attributes) }, base);
    });
  }

  /** Replaces name and members. Throws a Fault as `create`. */
  async replace({ author, organizationId, base, ifMatch }: ScimWrite, id: string, body: unknown) {
    const attributes = readResource(GROUP_TYPE, body);
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const group = await findChangeable(executor, author, { organizationId, id });
      await checkVersion(ifMatch, () => toResource(executor, group, base));
      await storeNames(transaction, group, attributes);
      await setMembers(transaction, group, memberIds(attributes.members));
      return toResource(executor, await findExistingGroup(executor, group), base);
    });
  }

  /** Changes name and members. Throws a Fault as `create`, after which nothing has changed. */
  async patch(
    { author, organizationId, base, ifMatch }: ScimWrite,
    id: string,
    operations: readonly PatchOperation[],
  ): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const group = await findChangeable(executor, author, { organizationId, id });
      await checkVersion(ifMatch, () => toResource(executor, group, base));
      let attributes: Attributes = {
        displayName: group.name,
        ...(group.externalId != null && { externalId: group.externalId }),
      };
      let replacements = 0;
      for (const operation of operations.flatMap(withPath)) {
        const target = findTarget(GROUP_TYPE, operation.path);
        if (target?.attribute?.name === "members") {
          replacements += replacesAll(operation, target) ? 1 : 0;
          if (replacements > MAX_REPLACEMENTS) throw tooManyReplacements();
          await patchMembers(transaction, group, operation, target);
        } else attributes = applyPatch(GROUP_TYPE, attributes, [operation]);
      }
      await storeNames(transaction, group, readResource(GROUP_TYPE, attributes));
    });
  }

  /** Deletes a group, with the roles that its members had by it. */
  async delete({ author, organizationId, base, ifMatch }: ScimWrite, id: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const group = await findChangeable(transaction.executor, author, { organizationId, id });
      await checkVersion(ifMatch, () => toResource(transaction.executor, group, base));
      await removeGroup(transaction, group);
    });
  }
}

/**
 * Finds a group that the client may change: one that SCIM manages, whose roles its owners gave to whomever the client
 * names, or one that it takes over. Throws a Fault for a group of a sign-on provider, and for a group by hand that gives
 * more than the author has.
 */
async function findChangeable(executor: Executor, author: Author, reference: GroupReference): Promise<GroupRow> {
  const group = await findExistingGroup(executor, reference);
  refuseProviderGroup(group);
  if (group.isScimManaged !== 1) await checkMayManageGroup(executor, author, group);
  return group;
}

/** Splits an operation without a path into one for each attribute of its value. */
function withPath({ op, path, value }: PatchOperation): (PatchOperation & { path: string })[] {
  if (path !== undefined) return [{ op, path, value }];
  return Object.entries(readObject(value, "'value'")).flatMap(([key, each]) =>
    ["id", "schemas", "meta"].includes(key.toLowerCase()) ? [] : [{ op, path: key, value: each }],
  );
}

async function storeNames(transaction: AccountTransaction, group: GroupRow, attributes: Attributes): Promise<void> {
  const name = displayNameOf(attributes);
  if (name !== group.name) await renameGroup(transaction, group, name);
  await storeExternalId(transaction, group, attributes);
}

/** From now on, the client manages the group. */
async function storeExternalId(
  { executor, audit }: AccountTransaction,
  group: GroupRow,
  attributes: Attributes,
): Promise<void> {
  const change = { ...externalIdOf(attributes), isScimManaged: 1 };
  if (group.isScimManaged === 1 && (group.externalId ?? null) === change.externalId) return;
  await updateGroup(executor, group.id, change);
  if (group.isScimManaged === 1) return;
  const { id, organizationId } = group;
  await audit({ type: "group.updated", organizationId, resourceId: id, details: { isScimManaged: true } });
}

function externalIdOf({ externalId }: Attributes): { externalId: string | null } {
  return { externalId: (externalId as string | undefined) ?? null };
}

function displayNameOf({ displayName }: Attributes): string {
  if (typeof displayName === "string") return displayName;
  throw scimFault("invalidValue", "'displayName' is missing.");
}

/** IDs of users, each once. Throws a Fault for members that are groups. */
function memberIds(members: unknown): string[] {
  const ids = ((members ?? []) as { value?: string; type?: string; $ref?: string }[]).map(({ value, type, $ref }) => {
    if ((type !== undefined && type.toLowerCase() !== "user") || $ref?.includes("/Groups/")) {
      throw scimFault("invalidValue", "Members of a group must be users; groups in groups are not supported.");
    }
    if (value === undefined) throw scimFault("invalidValue", "'members.value' is missing: send the ID of the user.");
    return value;
  });
  return [...new Set(ids)];
}

function replacesAll({ op, value }: PatchOperation, { filter }: PatchTarget): boolean {
  return op === "replace" || (op === "remove" && filter === undefined && (value === undefined || value === null));
}

function tooManyReplacements() {
  const message = `'Operations' replaces all members more than ${MAX_REPLACEMENTS} times, the maximum.`;
  return scimFault("invalidValue", message);
}

async function patchMembers(
  transaction: AccountTransaction,
  group: GroupRow,
  { op, value }: PatchOperation,
  { attribute, filter, sub }: PatchTarget,
): Promise<void> {
  if (attribute === undefined || sub !== undefined || (filter !== undefined && op !== "remove")) {
    throw scimFault(
      "invalidPath",
      "Members can be added, replaced or removed only as a whole: use the path `members`.",
    );
  }
  if (filter !== undefined) {
    // Another filter would be evaluated for each of the members.
    const id = requiredValue(filter, ["value"]);
    if (id === undefined) {
      throw scimFault("invalidFilter", 'Members are selected by their ID, such as `members[value eq "ID"]`.');
    }
    await removeMembers(transaction, group, [id]);
    return;
  }
  const ids = memberIds(readValue(attribute, value));
  if (op === "add") await addMembers(transaction, group, ids);
  else if (op === "replace") await setMembers(transaction, group, ids);
  else if (value === undefined || value === null) await setMembers(transaction, group, []);
  else await removeMembers(transaction, group, ids);
}

async function setMembers(transaction: AccountTransaction, group: GroupRow, ids: readonly string[]): Promise<void> {
  const members = (await findMembersOf(transaction.executor, [group.id])).map(({ userId }) => userId);
  const [before, after] = [new Set(members), new Set(ids)];
  await removeMembers(
    transaction,
    group,
    [...before].filter((id) => !after.has(id)),
  );
  await addMembers(
    transaction,
    group,
    [...after].filter((id) => !before.has(id)),
  );
}

async function addMembers(transaction: AccountTransaction, group: GroupRow, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { executor, now } = transaction;
  const [missing] = await findMissingUsers(executor, group.organizationId, ids);
  if (missing !== undefined) {
    throw scimFault("invalidValue", `'members' names the user \`${missing.slice(0, 100)}\`, which does not exist.`);
  }
  await addScimMembers(executor, group.id, ids, now);
  await auditMembers(transaction, group, { addedUserIds: ids });
}

async function removeMembers(transaction: AccountTransaction, group: GroupRow, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await removeScimMembers(transaction.executor, group.id, ids);
  await auditMembers(transaction, group, { removedUserIds: ids });
}

async function auditMembers(
  { audit }: AccountTransaction,
  { id, organizationId }: GroupRow,
  changes: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const details = Object.fromEntries(
    Object.entries(changes).flatMap(([key, ids]) => [
      [key, ids.slice(0, MAX_AUDITED)],
      [`${key}Count`, ids.length],
    ]),
  );
  await audit({ type: "group.updated", organizationId, resourceId: id, details });
}

async function toResource(executor: Executor, group: GroupRow, base: string, withMembers = true) {
  const [resource] = await toResources(executor, [group], base, withMembers);
  if (resource === undefined) throw new Error("a group has no resource");
  return resource;
}

/** Without members, there is no version either, since it depends on them. */
async function toResources(executor: Executor, groups: readonly GroupRow[], base: string, withMembers: boolean) {
  const ids = withMembers ? groups.map(({ id }) => id) : [];
  const membersOf = Map.groupBy(await findMembersOf(executor, ids), ({ groupId }) => groupId);
  return groups.map(({ id, name, externalId, createdAt }) => {
    const members = (membersOf.get(id) ?? []).map(({ userId }) => ({
      value: userId,
      $ref: `${base}/Users/${userId}`,
      type: "User",
    }));
    const attributes = {
      ...(externalId != null && { externalId }),
      displayName: name,
      ...(members.length > 0 && { members }),
    };
    return toScimResource(GROUP_TYPE, { id, createdAt, base, isVersioned: withMembers }, attributes);
  });
}
