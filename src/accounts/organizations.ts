/** The installation's organisations, which only the operator makes and ends. */

import { Fault, invalidRequest } from "../faults.ts";
import {
  archiveOrganization,
  findOrganization,
  insertOrganization,
  listOrganizations,
} from "../storage/organizations.ts";
import type { OrganizationRow } from "../storage/schema.ts";
import type { AccountChanges } from "./account-changes.ts";
import { makeApiKey } from "./api-key.ts";
import { addApiKey, type CreatedApiKey } from "./api-keys.ts";
import { OPERATOR } from "./audit.ts";
import { newId } from "./id.ts";
import { checkName } from "./name.ts";

export type Organization = OrganizationRow;

export class Organizations {
  readonly #changes: AccountChanges;

  constructor(changes: AccountChanges) {
    this.#changes = changes;
  }

  /** With its first admin key, by which it makes everything else. Throws a Fault for a name that is not valid. */
  async create(name: string): Promise<{ organization: Organization; adminKey: CreatedApiKey }> {
    const checked = checkName(name);
    return this.#changes.make(OPERATOR, async (change) => {
      const id = newId("org");
      const organization = { id, name: checked, isDefault: 0, createdAt: change.now, archivedAt: null };
      await insertOrganization(change.executor, organization);
      const details = { name: checked };
      await change.audit({ type: "organization.created", organizationId: id, resourceId: id, details });
      const wanted = {
        scope: { organizationId: id, kind: "admin" },
        name: "First admin key",
        expiresInSeconds: undefined,
      } as const;
      return { organization, adminKey: await addApiKey(change, wanted, makeApiKey("admin")) };
    });
  }

  /** Oldest first, archived ones among them. */
  async list(): Promise<Organization[]> {
    return this.#changes.database.run(listOrganizations);
  }

  /** Stops all its keys at once. Throws a Fault when there is none, or it is the default one. */
  async archive(id: string): Promise<Organization> {
    return this.#changes.make(OPERATOR, async ({ executor, now, audit }) => {
      const organization = await findOrganization(executor, id);
      if (organization === undefined) throw new Fault("not-found", `There is no organization \`${id}\`.`);
      if (organization.isDefault === 1) throw invalidRequest("The default organization cannot be archived.");
      if (!(await archiveOrganization(executor, id, now))) return organization;
      await audit({ type: "organization.archived", organizationId: id, resourceId: id, details: {} });
      return { ...organization, archivedAt: now };
    });
  }
}
