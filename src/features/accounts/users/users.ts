/** Users of an organization. */

import { isSelf } from "../../../http/access.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { revokeApiKeysOfUser } from "../keys/api-key-queries.ts";
import { checkName } from "../name.ts";
import type { OrganizationRole, UserRow } from "../people-rows.ts";
import { builtInRole, ORGANIZATION_ROLE_IDS } from "../roles/built-in-roles.ts";
import { type Author, checkMayGrant, checkMayManageUser } from "../roles/may-grant.ts";
import { takeRoles } from "../roles/role-changes.ts";
import { withRoleNames } from "../roles/role-names.ts";
import { checkEmail } from "./email.ts";
import {
  countOwners,
  deleteUser,
  findKeyUseOf,
  findProjectsOfUsers,
  findUser,
  findUserByEmail,
  findUsersByIds,
  insertUser,
  listUsers,
  type UserFilter,
  type UserReference,
  updateUserRow,
} from "./user-queries.ts";

/** A user with projects and the last use of the user's keys. */
export interface UserDetails extends UserRow {
  projects: readonly { id: string; name: string; role: string }[];
  keyLastUsedAt: number | null;
}

export interface NewUser {
  organizationId: string;
  email: string;
  name: string | undefined;
  role: OrganizationRole;
  isScimManaged?: boolean;
}

export interface UserChange {
  name?: string | undefined;
  role?: OrganizationRole | undefined;
  isDisabled?: boolean | undefined;
}

export class Users {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  async list(organizationId: string, filter: UserFilter, request: PageRequest): Promise<Page<UserDetails>> {
    return this.#transactions.database.run(async (executor) => {
      const page = await listUsers(executor, organizationId, filter, request);
      return { ...page, entries: await withDetails(executor, page.entries) };
    });
  }

  /** Throws a Fault when the user does not exist. */
  async retrieve(reference: UserReference): Promise<UserDetails> {
    return this.#transactions.database.run(async (executor) =>
      toDetails(executor, await findExistingUser(executor, reference)),
    );
  }

  /** Finds users by ID, without those that were removed. */
  async retrieveMany(ids: readonly string[]): Promise<ReadonlyMap<string, UserRow>> {
    const users = await this.#transactions.database.run((executor) => findUsersByIds(executor, [...new Set(ids)]));
    return new Map(users.map((user) => [user.id, user]));
  }

  /**
   * Changes a user. Keys and sessions of a disabled user do not work. Throws a Fault when the author has less access than
   * the user, and for a change after which the organization has no owner.
   */
  async update(author: Author, reference: UserReference, change: UserChange): Promise<UserDetails> {
    return this.#transactions.run(author, async (transaction) => {
      const user = await changeUser(transaction, author, reference, change);
      return toDetails(transaction.executor, user);
    });
  }

  /** Removes a user and revokes the user's keys. Throws a Fault as `update`. */
  async remove(author: Author, reference: UserReference): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const user = await findExistingUser(executor, reference);
      if (!isSelf(author, user.id)) await checkMayManageUser(executor, author, user);
      await removeUser(transaction, user);
    });
  }
}

/** Adds a user. Throws a Fault for an invalid address or one that another user has. */
export async function addUser({ executor, now, audit }: AccountTransaction, wanted: NewUser): Promise<UserRow> {
  const { organizationId, role } = wanted;
  const email = checkEmail(wanted.email);
  if ((await findUserByEmail(executor, organizationId, email)) !== undefined) {
    throw new Fault("conflict", `The organization has a user with the address ${email} already.`, {
      code: "user_exists",
    });
  }
  const user: UserRow = {
    id: newId("user_"),
    organizationId,
    email,
    name: wanted.name === undefined ? email : checkName(wanted.name),
    role,
    addedAt: now,
    disabledAt: null,
    lastActiveAt: null,
    isScimManaged: wanted.isScimManaged === true ? 1 : 0,
  };
  await insertUser(executor, user);
  await audit({ type: "user.added", organizationId, resourceId: user.id, details: { role } });
  return user;
}

/** Changes a user within a transaction; `update` describes the Faults. */
async function changeUser(
  { executor, now, audit }: AccountTransaction,
  author: Author,
  reference: UserReference,
  { name, role, isDisabled }: UserChange,
): Promise<UserRow> {
  const user = await findExistingUser(executor, reference);
  const checked = name === undefined ? user.name : checkName(name);
  const change: Partial<UserRow> = {
    ...(checked !== user.name && { name: checked }),
    ...(role !== undefined && role !== user.role && { role }),
    ...(isDisabled !== undefined &&
      isDisabled !== (user.disabledAt !== null) && { disabledAt: isDisabled ? now : null }),
    // From now on, the directory that disabled the user does not enable them.
    ...(isDisabled === true && user.scimDisabledAt != null && { scimDisabledAt: null }),
  };
  if (Object.keys(change).length === 0) return user;
  if (!isSelf(author, user.id) || isDisabled === false) await checkMayManageUser(executor, author, user);
  if (change.role !== undefined) {
    checkMayGrant(author, [...permissionsOf(user.role), ...permissionsOf(change.role)], undefined);
  }
  const staysOwner = (change.role ?? user.role) === "owner" && (change.disabledAt ?? null) === null;
  if (!staysOwner) await checkNotLastOwner(executor, user);
  await updateUserRow(executor, user.id, change);
  const { organizationId } = user;
  const { role: newRole, disabledAt } = change;
  const details = {
    ...(newRole !== undefined && { role: newRole }),
    ...(disabledAt !== undefined && { isDisabled: disabledAt !== null }),
  };
  await audit({ type: "user.updated", organizationId, resourceId: user.id, details });
  return { ...user, ...change };
}

/** Removes a user with memberships, and revokes the user's keys. Throws a Fault for the last owner. */
export async function removeUser(transaction: AccountTransaction, user: UserRow): Promise<void> {
  const { executor, now, audit } = transaction;
  await checkNotLastOwner(executor, user);
  await revokeApiKeysOfUser(executor, user.id, now);
  const { id, organizationId } = user;
  await takeRoles(transaction, { organizationId, projectId: undefined }, { type: "user", id }, "checked");
  await deleteUser(executor, user.id);
  await audit({ type: "user.deleted", organizationId, resourceId: user.id, details: {} });
}

/** Throws a Fault when the organization would have no owner without this one. */
export async function checkNotLastOwner(executor: Executor, user: UserRow): Promise<void> {
  if (user.role !== "owner" || user.disabledAt !== null) return;
  if ((await countOwners(executor, user.organizationId)) > 1) return;
  throw invalidRequest(
    `${user.email} is the last owner of the organization. First make another user an owner.`,
    undefined,
    "last_owner",
  );
}

/** Throws a Fault when the user does not exist. */
export async function findExistingUser(executor: Executor, reference: UserReference): Promise<UserRow> {
  const user = await findUser(executor, reference);
  if (user === undefined) throw new Fault("not-found", `There is no user \`${reference.id.slice(0, 100)}\`.`);
  return user;
}

function permissionsOf(role: OrganizationRole) {
  return builtInRole(ORGANIZATION_ROLE_IDS[role])?.permissions ?? [];
}

async function toDetails(executor: Executor, user: UserRow): Promise<UserDetails> {
  const [details] = await withDetails(executor, [user]);
  return details as UserDetails;
}

async function withDetails(executor: Executor, users: readonly UserRow[]): Promise<UserDetails[]> {
  const ids = users.map(({ id }) => id);
  const projects = Map.groupBy(
    await withRoleNames(executor, await findProjectsOfUsers(executor, ids)),
    ({ userId }) => userId,
  );
  const keyUse = new Map((await findKeyUseOf(executor, ids)).map(({ userId, lastUsedAt }) => [userId, lastUsedAt]));
  return users.map((user) => ({
    ...user,
    projects: projects.get(user.id) ?? [],
    keyLastUsedAt: keyUse.get(user.id) ?? null,
  }));
}
