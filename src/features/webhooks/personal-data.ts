import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { PersonalData, QueriedRows } from "../../storage/personal-data.ts";

/**
 * Events that name the person or a key of the person. A receiver that was away does not get them any more. Addresses and
 * names of end users are not unique, and may be words that any event has: they count in the field that names a person,
 * in events of the person's organization. A quotation mark within a text is escaped, so no text can look like a field.
 */
function payloadsOfPerson<Name extends "webhookDeliveries" | "webhookLog">(table: Name): QueriedRows<Name> {
  return {
    columns: ["payload"],
    async erase({ database }, { organizationId, identifiers: { user, key, email, endUser } }) {
      const has = (part: string) => sql<boolean>`replace(payload, ${part}, '') <> payload`;
      const organization = has(`"organization_id":${JSON.stringify(organizationId)}`);
      const inOrganization = (part: string) => sql<boolean>`(${organization} and ${has(part)})`;
      const conditions = [
        ...[...user, ...key].map((id) => has(JSON.stringify(id))),
        ...email.map((address) => inOrganization(`"name":${JSON.stringify(address)}`)),
        ...endUser.map((value) => inOrganization(`"subject":${JSON.stringify({ type: "end_user", id: value })}`)),
      ];
      let erased = 0;
      for (const condition of conditions) {
        const query = (executor: Executor) =>
          executor
            .deleteFrom(table as "webhookLog")
            .where(condition)
            .executeTakeFirst();
        erased += Number((await database.run(query)).numDeletedRows);
      }
      return erased;
    },
  };
}

export const webhookData = {
  webhookDeliveries: { rows: [payloadsOfPerson("webhookDeliveries")] },
  webhookLog: { rows: [payloadsOfPerson("webhookLog")] },
} as const satisfies PersonalData;
