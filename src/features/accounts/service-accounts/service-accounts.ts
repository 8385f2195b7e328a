/** Service accounts of a project, which own its keys. */

import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { ServiceAccountRow } from "../account-rows.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import { makeApiKey } from "../keys/api-key.ts";
import { revokeApiKeysOf } from "../keys/api-key-queries.ts";
import { addApiKey, type CreatedApiKey } from "../keys/store-api-key.ts";
import { checkName } from "../name.ts";
import type { ProjectReference } from "../projects/project-queries.ts";
import { findActiveProject, findExistingProject } from "../projects/projects.ts";
import { type Author, checkMayIssueKey } from "../roles/may-grant.ts";
import {
  deleteServiceAccount,
  findServiceAccount,
  findServiceAccounts,
  insertServiceAccount,
  listServiceAccounts,
  type ServiceAccountReference,
  updateServiceAccount,
} from "./service-account-queries.ts";

export type ServiceAccount = ServiceAccountRow;

export interface NewServiceAccount {
  name: string;
  /** Options of its first key; undefined: without a key. */
  key: { expiresInSeconds: number | undefined } | undefined;
}

export class ServiceAccounts {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /**
   * Creates an account. Throws a Fault for an invalid name, when the project does not exist or is archived, and for a key
   * that allows more than the author may do.
   */
  async create(
    author: Author,
    project: ProjectReference,
    wanted: NewServiceAccount,
  ): Promise<{ account: ServiceAccount; key: CreatedApiKey | undefined }> {
    const name = checkName(wanted.name);
    return this.#transactions.run(author, async (transaction) => {
      const activeProject = await findActiveProject(transaction.executor, project);
      const account: ServiceAccount = {
        id: newId("svc_acct_"),
        organizationId: project.organizationId,
        projectId: project.id,
        name,
        role: wanted.key === undefined ? "none" : "member",
        createdAt: transaction.now,
        deletedAt: null,
      };
      const { id, organizationId, role } = account;
      await insertServiceAccount(transaction.executor, account);
      const details = { name, role };
      await transaction.audit({
        type: "service_account.created",
        organizationId,
        project: activeProject,
        resourceId: id,
        details,
      });
      if (wanted.key === undefined) return { account, key: undefined };
      const scope = { organizationId, projectId: project.id, serviceAccountId: id, kind: "project" } as const;
      await checkMayIssueKey(transaction.executor, author, scope);
      const key = await addApiKey(transaction, { scope, name, ...wanted.key }, makeApiKey("project"));
      return { account, key };
    });
  }

  async list(project: ProjectReference, request: PageRequest): Promise<Page<ServiceAccount>> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return listServiceAccounts(executor, project, request);
    });
  }

  /** Throws a Fault when the project does not exist. */
  async retrieve(reference: ServiceAccountReference): Promise<ServiceAccount> {
    return this.#transactions.database.run((executor) => findExisting(executor, reference));
  }

  /** Finds accounts by ID, including deleted ones. */
  async retrieveMany(ids: readonly string[]): Promise<ReadonlyMap<string, ServiceAccount>> {
    const accounts = await this.#transactions.database.run((executor) => findServiceAccounts(executor, ids));
    return new Map(accounts.map((account) => [account.id, account]));
  }

  /** Throws a Fault when it does not exist, its project is archived, or the name is invalid. */
  async update(
    actor: Actor,
    reference: ServiceAccountReference,
    wanted: { name?: string | undefined; role?: "member" | "owner" | undefined },
  ): Promise<ServiceAccount> {
    const name = wanted.name === undefined ? undefined : checkName(wanted.name);
    const change = { ...(name && { name }), ...(wanted.role && { role: wanted.role }) };
    if (Object.keys(change).length === 0) throw invalidRequest("Nothing to change was given: set 'name' or 'role'.");
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const { account, project } = await findBoth(executor, reference);
      const changed = { ...account, ...change };
      if (changed.name === account.name && changed.role === account.role) return account;
      await updateServiceAccount(executor, account.id, change);
      const { id, organizationId } = account;
      await audit({ type: "service_account.updated", organizationId, project, resourceId: id, details: change });
      return changed;
    });
  }

  /** Revokes its keys too. Throws a Fault when it does not exist or its project is archived. */
  async delete(actor: Actor, reference: ServiceAccountReference): Promise<void> {
    await this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const { account, project } = await findBoth(executor, reference);
      await revokeApiKeysOf(executor, account.id, now);
      await deleteServiceAccount(executor, account.id, now);
      const { id, organizationId } = account;
      await audit({ type: "service_account.deleted", organizationId, project, resourceId: id, details: {} });
    });
  }
}

async function findExisting(executor: Executor, reference: ServiceAccountReference): Promise<ServiceAccount> {
  const account = await findServiceAccount(executor, reference);
  if (account === undefined) throw new Fault("not-found", `There is no service account \`${reference.id}\`.`);
  return account;
}

async function findBoth(executor: Executor, reference: ServiceAccountReference) {
  const { organizationId, projectId } = reference;
  const project = await findActiveProject(executor, { organizationId, id: projectId });
  return { account: await findExisting(executor, reference), project };
}
