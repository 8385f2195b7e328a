/** Reads and changes which models an organization or project may use. */

import type { Executor } from "../../../storage/database.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import type { Actor, AuditEvent } from "../audit/audit.ts";
import { toModelPermissions } from "../keys/cached-key.ts";
import type { ModelPermissions } from "./model-access.ts";
import {
  deleteModelPermissions,
  findModelPermissions,
  type PermissionScope,
  putModelPermissions,
} from "./model-permission-queries.ts";
import { findActiveProject, findExistingProject } from "./projects.ts";

/** An organization, or one of its projects. */
export interface PermissionOwner {
  organizationId: string;
  projectId: string | undefined;
}

export class ModelPermissionService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Returns undefined when none were set. Throws a Fault when the project does not exist. */
  async retrieve(owner: PermissionOwner): Promise<ModelPermissions | undefined> {
    return this.#transactions.database.run(async (executor) => {
      const { organizationId, projectId } = owner;
      if (projectId !== undefined) await findExistingProject(executor, { organizationId, id: projectId });
      const row = await findModelPermissions(executor, toScope(owner));
      return row && toModelPermissions(row);
    });
  }

  /** Throws a Fault when the project does not exist or is archived. */
  async replace(actor: Actor, owner: PermissionOwner, wanted: ModelPermissions): Promise<ModelPermissions> {
    const permissions = { mode: wanted.mode, modelIds: [...new Set(wanted.modelIds)] };
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const event = await describe(executor, owner);
      const modelIds = JSON.stringify(permissions.modelIds);
      await putModelPermissions(executor, { ...toScope(owner), mode: permissions.mode, modelIds, updatedAt: now });
      await audit({ ...event, details: { modelPermissions: permissions } });
      return permissions;
    });
  }

  /** Returns false when there were none. Throws a Fault when the project does not exist or is archived. */
  async remove(actor: Actor, owner: PermissionOwner): Promise<boolean> {
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const event = await describe(executor, owner);
      const isRemoved = await deleteModelPermissions(executor, toScope(owner));
      if (isRemoved) await audit({ ...event, details: { modelPermissions: null } });
      return isRemoved;
    });
  }
}

function toScope({ organizationId, projectId }: PermissionOwner): PermissionScope {
  return { organizationId, scopeId: projectId ?? organizationId };
}

async function describe(executor: Executor, owner: PermissionOwner): Promise<Omit<AuditEvent, "details">> {
  const { organizationId, projectId } = owner;
  if (projectId === undefined) return { type: "organization.updated", organizationId, resourceId: organizationId };
  const project = await findActiveProject(executor, { organizationId, id: projectId });
  return { type: "project.updated", organizationId, project, resourceId: projectId };
}
