/** Reads and changes monthly spend limits of organizations, projects and keys. */

import { Fault } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import {
  type AccountTransactions,
  type Actor,
  type AuditEvent,
  findActiveProject,
  findApiKey,
  findExistingProject,
} from "../accounts/index.ts";
import type { SpendLimitRow } from "./limit-rows.ts";
import { deleteSpendLimit, findSpendLimitsOf, putSpendLimit } from "./spend-limit-queries.ts";

export type SpendLimit = SpendLimitRow;

/** An organization, one of its projects, or a key of that project. */
export interface SpendLimitOwner {
  organizationId: string;
  projectId: string | undefined;
  keyId: string | undefined;
}

export class SpendLimitService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Throws a Fault when the project, the key or the limit does not exist. */
  async retrieve(owner: SpendLimitOwner): Promise<SpendLimit> {
    return this.#transactions.database.run(async (executor) => {
      const { organizationId, projectId } = owner;
      if (projectId !== undefined) await findExistingProject(executor, { organizationId, id: projectId });
      await findKey(executor, owner);
      const [limit] = await findSpendLimitsOf(executor, [scopeOf(owner)]);
      if (limit === undefined) throw new Fault("not-found", "There is no spend limit.");
      return limit;
    });
  }

  /** Throws a Fault when the project or key does not exist, or the project is archived. */
  async replace(
    actor: Actor,
    owner: SpendLimitOwner,
    wanted: { thresholdCents: number; isEnforcing: boolean },
  ): Promise<SpendLimit> {
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const event = await describe(executor, owner);
      const { organizationId } = owner;
      const { thresholdCents } = wanted;
      const isEnforcing = Number(wanted.isEnforcing);
      const limit = { thresholdCents, isEnforcing, updatedAt: now, begunAt: now };
      const row = { scopeId: scopeOf(owner), organizationId, ...limit };
      await putSpendLimit(executor, row);
      await audit({ ...event, details: { spendLimit: wanted } });
      return row;
    });
  }

  /** False when there was none. Throws a Fault when the project or key does not exist, or the project is archived. */
  async remove(actor: Actor, owner: SpendLimitOwner): Promise<boolean> {
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const event = await describe(executor, owner);
      const isRemoved = await deleteSpendLimit(executor, scopeOf(owner));
      if (isRemoved) await audit({ ...event, details: { spendLimit: null } });
      return isRemoved;
    });
  }
}

function scopeOf({ organizationId, projectId, keyId }: SpendLimitOwner): string {
  return keyId ?? projectId ?? organizationId;
}

async function findKey(executor: Executor, { organizationId, projectId, keyId }: SpendLimitOwner): Promise<void> {
  if (keyId === undefined || projectId === undefined) return;
  const key = await findApiKey(executor, { organizationId, projectId, kind: "project" }, keyId);
  if (key === undefined) throw new Fault("not-found", `There is no API key \`${keyId}\`.`);
}

async function describe(executor: Executor, owner: SpendLimitOwner): Promise<Omit<AuditEvent, "details">> {
  const { organizationId, projectId, keyId } = owner;
  if (projectId === undefined) return { type: "organization.updated", organizationId, resourceId: organizationId };
  const project = await findActiveProject(executor, { organizationId, id: projectId });
  await findKey(executor, owner);
  if (keyId !== undefined) return { type: "api_key.updated", organizationId, project, resourceId: keyId };
  return { type: "project.updated", organizationId, project, resourceId: projectId };
}
