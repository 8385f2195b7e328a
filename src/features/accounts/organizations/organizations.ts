/** Organizations of the installation, which only the operator creates and archives. */

import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { OrganizationRow } from "../account-rows.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import { makeApiKey } from "../keys/api-key.ts";
import { addApiKey, type CreatedApiKey } from "../keys/store-api-key.ts";
import { checkName } from "../name.ts";
import { archiveProjectsOf } from "../projects/projects.ts";
import {
  archiveOrganization,
  findOrganization,
  insertOrganization,
  listOrganizations,
} from "./organization-queries.ts";

export type Organization = OrganizationRow;

export class Organizations {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Creates an organization with its first admin key. Throws a Fault for an invalid name. */
  async create(actor: Actor, name: string): Promise<{ organization: Organization; adminKey: CreatedApiKey }> {
    const checked = checkName(name);
    return this.#transactions.run(actor, async (transaction) => {
      const id = newId("org_");
      const organization = { id, name: checked, isDefault: 0, createdAt: transaction.now, archivedAt: null };
      await insertOrganization(transaction.executor, organization);
      const details = { name: checked };
      await transaction.audit({ type: "organization.created", organizationId: id, resourceId: id, details });
      const values = {
        scope: { organizationId: id, kind: "admin" },
        name: "First admin key",
        expiresInSeconds: undefined,
      } as const;
      return { organization, adminKey: await addApiKey(transaction, values, makeApiKey("admin")) };
    });
  }

  /** Lists organizations, oldest first, including archived ones. */
  async list(): Promise<Organization[]> {
    return this.#transactions.database.run(listOrganizations);
  }

  /** Throws a Fault when it does not exist. */
  async retrieve(id: string): Promise<Organization> {
    const organization = await this.#transactions.database.run((executor) => findOrganization(executor, id));
    if (organization === undefined) throw new Fault("not-found", `There is no organization \`${id}\`.`);
    return organization;
  }

  /** Whether it is the default organization, which the operator's keys belong to. */
  async isDefault(id: string): Promise<boolean> {
    const organization = await this.#transactions.database.run((executor) => findOrganization(executor, id));
    return organization?.isDefault === 1;
  }

  /** Disables all its keys and archives its projects, whose content is deleted. Throws a Fault when it does not exist or is the default organization. */
  async archive(actor: Actor, id: string): Promise<Organization> {
    return this.#transactions.run(actor, async (transaction) => {
      const { executor, now, audit } = transaction;
      const organization = await findOrganization(executor, id);
      if (organization === undefined) throw new Fault("not-found", `There is no organization \`${id}\`.`);
      if (organization.isDefault === 1) throw invalidRequest("The default organization cannot be archived.");
      if (!(await archiveOrganization(executor, id, now))) return organization;
      await archiveProjectsOf(transaction, id);
      await audit({ type: "organization.archived", organizationId: id, resourceId: id, details: {} });
      return { ...organization, archivedAt: now };
    });
  }
}
