/** Users as a SCIM client manages them. */

import { allows } from "../../http/access.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import { USER_TYPE } from "../../wire/scim/attributes.ts";
import { type Attributes, readResource } from "../../wire/scim/read-resource.ts";
import { toScimResource } from "../../wire/scim/resources.ts";
import { applyPatch, type PatchOperation } from "../../wire/scim/scim-patch.ts";
import {
  type AccountTransaction,
  type AccountTransactions,
  type Author,
  acceptInviteOf,
  addUser,
  checkMayReachUser,
  checkNotLastOwner,
  findExistingUser,
  findGroupsOfUsers,
  findUserByEmail,
  removeUser,
  type UserReference,
  type UserRow,
  updateUser,
} from "../accounts/index.ts";
import { endLocalAccess, type Providers } from "../sign-on/index.ts";
import { checkVersion } from "./check-version.ts";
import type { ResourceSource } from "./scim-list.ts";
import { countScimUsers, findUserByScimName, listScimUsers } from "./scim-queries.ts";
import { type ScimColumns, toScimColumns, toUserAttributes } from "./user-attributes.ts";

export interface ScimWrite {
  author: Author;
  organizationId: string;
  /** Address of the API, for the addresses of resources. */
  base: string;
  /** ETags of which the resource must have one. */
  ifMatch: string | undefined;
}

export class ScimUsers {
  readonly #transactions: AccountTransactions;
  readonly #providers: Providers;

  /** `providers`: those of the configuration. */
  constructor(transactions: AccountTransactions, providers: Providers) {
    this.#transactions = transactions;
    this.#providers = providers;
  }

  source(organizationId: string, base: string): ResourceSource {
    const { database } = this.#transactions;
    return {
      type: USER_TYPE,
      count: () => database.run((executor) => countScimUsers(executor, organizationId)),
      list: (lookup, slice) =>
        database.run(async (executor) =>
          toResources(executor, await listScimUsers(executor, organizationId, lookup, slice), base),
        ),
    };
  }

  /** Throws a Fault when the user does not exist. */
  async retrieve(reference: UserReference, base: string) {
    return this.#transactions.database.run(async (executor) =>
      toResource(executor, await findExistingUser(executor, reference), base),
    );
  }

  /**
   * Adds a user, with the roles of a pending invite. A user of this address whom no SCIM client manages becomes managed.
   * Throws a Fault for a name or address of another user.
   */
  async create({ author, organizationId, base }: ScimWrite, body: unknown) {
    const attributes = readResource(USER_TYPE, body);
    const columns = toScimColumns(attributes);
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const existing =
        (await findUserByEmail(executor, organizationId, columns.email)) ??
        (await findUserByScimName(executor, organizationId, attributes.userName as string));
      // A disabled user stays so until the client changes this very user.
      if (existing !== undefined && (existing.isScimManaged === 1 || existing.disabledAt !== null)) {
        throw taken(columns, existing);
      }
      if (existing !== undefined) await this.#takeOver(transaction, existing);
      const user = existing ?? (await addPerson(transaction, organizationId, columns));
      return toResource(executor, await storeUser(transaction, author, user, attributes), base);
    });
  }

  /** Replaces the attributes of a user; without `active`, that stays. Throws a Fault as `create`. */
  async replace(write: ScimWrite, id: string, body: unknown) {
    const attributes = readResource(USER_TYPE, body);
    return this.#change(write, id, ({ disabledAt }) => ({ active: disabledAt === null, ...attributes }));
  }

  /** Throws a Fault as `create`, after which nothing has changed. */
  async patch(write: ScimWrite, id: string, operations: readonly PatchOperation[]) {
    return this.#change(write, id, (user) =>
      readResource(USER_TYPE, applyPatch(USER_TYPE, toUserAttributes(user), operations)),
    );
  }

  /** Removes a user and revokes the user's keys. Throws a Fault for the last owner. */
  async delete({ author, organizationId, base, ifMatch }: ScimWrite, id: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const user = await findExistingUser(transaction.executor, { organizationId, id });
      await checkVersion(ifMatch, () => toResource(transaction.executor, user, base));
      await removeUser(transaction, user);
    });
  }

  async #change(
    { author, organizationId, base, ifMatch }: ScimWrite,
    id: string,
    change: (user: UserRow) => Attributes,
  ) {
    return this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const user = await findExistingUser(executor, { organizationId, id });
      await checkVersion(ifMatch, () => toResource(executor, user, base));
      await this.#takeOver(transaction, user);
      return toResource(executor, await storeUser(transaction, author, user, change(user)), base);
    });
  }

  /** Ends what was made of a user of this address before the directory knew the person. */
  async #takeOver(transaction: AccountTransaction, user: UserRow): Promise<void> {
    if (user.isScimManaged !== 1) await endLocalAccess(transaction, user, this.#providers);
  }
}

async function addPerson(
  transaction: AccountTransaction,
  organizationId: string,
  { email, name }: ScimColumns,
): Promise<UserRow> {
  const invited = await acceptInviteOf(transaction, { organizationId, email, name });
  // What a reader may do comes from groups and projects.
  return invited ?? addUser(transaction, { organizationId, email, name, role: "reader" });
}

async function storeUser(
  transaction: AccountTransaction,
  author: Author,
  user: UserRow,
  attributes: Attributes,
): Promise<UserRow> {
  const { executor, now, audit } = transaction;
  const { organizationId } = user;
  const columns = toScimColumns(attributes);
  for (const other of [
    await findUserByEmail(executor, organizationId, columns.email),
    await findUserByScimName(executor, organizationId, columns.scimUserName ?? ""),
  ]) {
    if (other !== undefined && other.id !== user.id) throw taken(columns, other);
  }
  // Whoever has the address signs in as the user.
  if (columns.email !== user.email) await checkMayReachUser(executor, author, user);
  const isDisabled = attributes.active === false;
  if (isDisabled) await checkNotLastOwner(executor, user);
  else await checkMayEnable(executor, author, user);
  const change = { ...columns, ...(isDisabled ? disabledBy(user, now) : ENABLED), isScimManaged: 1 };
  await updateUser(executor, user.id, change);
  const details = {
    isScimManaged: true,
    ...(columns.email !== user.email && { email: columns.email }),
    ...(columns.name !== user.name && { name: columns.name }),
    ...(isDisabled !== (user.disabledAt !== null) && { isDisabled }),
  };
  await audit({ type: "user.updated", organizationId, resourceId: user.id, details });
  return { ...user, ...change };
}

type Disabling = Pick<UserRow, "disabledAt" | "scimDisabledAt">;

const ENABLED: Disabling = { disabledAt: null, scimDisabledAt: null };

/** A user who is disabled stays disabled by whoever did it. */
function disabledBy({ disabledAt, scimDisabledAt = null }: UserRow, now: number): Disabling {
  return disabledAt === null ? { disabledAt: now, scimDisabledAt: now } : { disabledAt, scimDisabledAt };
}

/** Throws a Fault for a user whom somebody else disabled, unless the author may enable the user without SCIM. */
async function checkMayEnable(executor: Executor, author: Author, user: UserRow): Promise<void> {
  if (user.disabledAt === null || user.disabledAt === user.scimDisabledAt) return;
  if (allows(author.access, "organization.users.write")) return checkMayReachUser(executor, author, user);
  const message = [
    `An administrator disabled the user \`${user.id}\` in Parlance. Enable the user there,`,
    "or with a key that has the permission `organization.users.write`, too.",
  ].join(" ");
  throw new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function taken({ email, scimUserName }: ScimColumns, other: UserRow): Fault {
  const what = other.email === email ? `address ${email}` : `userName \`${scimUserName}\``;
  return new Fault("conflict", `The user \`${other.id}\` has the ${what} already.`, { code: "user_exists" });
}

async function toResource(executor: Executor, user: UserRow, base: string) {
  const [resource] = await toResources(executor, [user], base);
  if (resource === undefined) throw new Error("a user has no resource");
  return resource;
}

async function toResources(executor: Executor, users: readonly UserRow[], base: string) {
  const ids = users.map(({ id }) => id);
  const groupsOf = Map.groupBy(await findGroupsOfUsers(executor, ids), ({ userId }) => userId);
  return users.map((user) => {
    const groups = (groupsOf.get(user.id) ?? []).map(({ id, name }) => ({
      value: id,
      $ref: `${base}/Groups/${id}`,
      display: name,
    }));
    const attributes = { ...toUserAttributes(user), ...(groups.length > 0 && { groups }) };
    return toScimResource(USER_TYPE, { id: user.id, createdAt: user.addedAt, base }, attributes);
  });
}
