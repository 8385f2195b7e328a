/** A project's service accounts: who holds its keys. */

import { Fault, invalidRequest } from "../faults.ts";
import { revokeApiKeysOf } from "../storage/api-keys.ts";
import type { Executor } from "../storage/database.ts";
import type { Page, PageRequest } from "../storage/page.ts";
import type { ProjectReference } from "../storage/projects.ts";
import type { ServiceAccountRow } from "../storage/schema.ts";
import {
  deleteServiceAccount,
  findServiceAccount,
  findServiceAccounts,
  insertServiceAccount,
  listServiceAccounts,
  type ServiceAccountReference,
  updateServiceAccount,
} from "../storage/service-accounts.ts";
import type { AccountChanges } from "./account-changes.ts";
import { makeApiKey } from "./api-key.ts";
import { addApiKey, type CreatedApiKey } from "./api-keys.ts";
import type { Actor } from "./audit.ts";
import { newId } from "./id.ts";
import { checkName } from "./name.ts";
import { findActiveProject, findExistingProject } from "./projects.ts";

export type ServiceAccount = ServiceAccountRow;

export interface NewServiceAccount {
  name: string;
  /** Its first key; undefined: none is made. */
  key: { expiresInSeconds: number | undefined } | undefined;
}

export class ServiceAccounts {
  readonly #changes: AccountChanges;

  constructor(changes: AccountChanges) {
    this.#changes = changes;
  }

  /** Throws a Fault for a name that is not valid, or when the project is archived or not there. */
  async create(
    actor: Actor,
    project: ProjectReference,
    wanted: NewServiceAccount,
  ): Promise<{ account: ServiceAccount; key: CreatedApiKey | undefined }> {
    const name = checkName(wanted.name);
    return this.#changes.make(actor, async (change) => {
      const found = await findActiveProject(change.executor, project);
      const account: ServiceAccount = {
        id: newId("svc_acct"),
        organizationId: project.organizationId,
        projectId: project.id,
        name,
        role: wanted.key === undefined ? "none" : "member",
        createdAt: change.now,
        deletedAt: null,
      };
      const { id, organizationId, role } = account;
      await insertServiceAccount(change.executor, account);
      const details = { name, role };
      await change.audit({ type: "service_account.created", organizationId, project: found, resourceId: id, details });
      if (wanted.key === undefined) return { account, key: undefined };
      const scope = { organizationId, projectId: project.id, serviceAccountId: id, kind: "project" } as const;
      const key = await addApiKey(change, { scope, name, ...wanted.key }, makeApiKey("project"));
      return { account, key };
    });
  }

  async list(project: ProjectReference, request: PageRequest): Promise<Page<ServiceAccount>> {
    return this.#changes.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return listServiceAccounts(executor, project, request);
    });
  }

  /** Throws a Fault when there is none. */
  async retrieve(reference: ServiceAccountReference): Promise<ServiceAccount> {
    return this.#changes.database.run((executor) => findExisting(executor, reference));
  }

  /** By id; deleted ones are among them. */
  async retrieveMany(ids: readonly string[]): Promise<ReadonlyMap<string, ServiceAccount>> {
    const accounts = await this.#changes.database.run((executor) => findServiceAccounts(executor, ids));
    return new Map(accounts.map((account) => [account.id, account]));
  }

  /** Throws a Fault when there is none, its project is archived, or the name is not valid. */
  async update(
    actor: Actor,
    reference: ServiceAccountReference,
    wanted: { name?: string | undefined; role?: "member" | "owner" | undefined },
  ): Promise<ServiceAccount> {
    const name = wanted.name === undefined ? undefined : checkName(wanted.name);
    const change = { ...(name && { name }), ...(wanted.role && { role: wanted.role }) };
    if (Object.keys(change).length === 0) throw invalidRequest("Nothing to change was given: 'name' or 'role'.");
    return this.#changes.make(actor, async ({ executor, audit }) => {
      const { account, project } = await findBoth(executor, reference);
      await updateServiceAccount(executor, account.id, change);
      const { id, organizationId } = account;
      await audit({ type: "service_account.updated", organizationId, project, resourceId: id, details: change });
      return { ...account, ...change };
    });
  }

  /** Ends its keys with it. Throws a Fault when there is none or its project is archived. */
  async delete(actor: Actor, reference: ServiceAccountReference): Promise<void> {
    await this.#changes.make(actor, async ({ executor, now, audit }) => {
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
