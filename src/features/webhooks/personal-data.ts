import { sql } from "kysely";
import type { PersonalData, QueriedRows } from "../../storage/personal-data.ts";

/** Events that name the person or a key of the person. A receiver that was away does not get them any more. */
function payloadsOfPerson<Name extends "webhookDeliveries" | "webhookLog">(table: Name): QueriedRows<Name> {
  return {
    columns: ["payload"],
    async erase({ database }, { identifiers: { user, key, email, endUser } }) {
      let erased = 0;
      for (const value of new Set([...user, ...key, ...email, ...endUser])) {
        const quoted = JSON.stringify(value);
        const removed = await database.run((executor) =>
          executor
            .deleteFrom(table as "webhookLog")
            .where(sql<boolean>`replace(payload, ${quoted}, '') <> payload`)
            .executeTakeFirst(),
        );
        erased += Number(removed.numDeletedRows);
      }
      return erased;
    },
  };
}

export const webhookData = {
  webhookDeliveries: { rows: [payloadsOfPerson("webhookDeliveries")] },
  webhookLog: { rows: [payloadsOfPerson("webhookLog")] },
  webhookEndpoints: {
    reason: "Receivers of a project's events; the audit log says who changed them.",
    texts: { columns: ["name", "url"], within: "projectId" },
    impersonal: { events: "Types of events.", secretHint: "Random characters." },
  },
  deploymentOutages: { reason: "Outages of deployments.", impersonal: { deployment: "A deployment." } },
} as const satisfies PersonalData;
