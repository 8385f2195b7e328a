import { sql } from "kysely";
import type { PersonalData, QueriedRows } from "../privacy/personal-data.ts";

/** Deliveries that name the person or a key of the person. A receiver that was away does not get them any more. */
const deliveriesOfPerson: QueriedRows<"webhookDeliveries"> = {
  columns: ["payload"],
  async erase({ database }, { identifiers: { user, key, email, endUser } }) {
    let erased = 0;
    for (const value of new Set([...user, ...key, ...email, ...endUser])) {
      const quoted = JSON.stringify(value);
      const removed = await database.run((executor) =>
        executor
          .deleteFrom("webhookDeliveries")
          .where(sql<boolean>`replace(payload, ${quoted}, '') <> payload`)
          .executeTakeFirst(),
      );
      erased += Number(removed.numDeletedRows);
    }
    return erased;
  },
};

export const webhookData = {
  webhookDeliveries: { rows: [deliveriesOfPerson] },
  deploymentOutages: { reason: "Outages of deployments." },
} as const satisfies PersonalData;
