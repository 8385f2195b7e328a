/** The outbox of e-mails: one row per recipient until it is delivered. */

import type { Executor } from "../../storage/database.ts";
import type { MailDeliveryRow } from "./mail-rows.ts";

export async function insertMailDeliveries(executor: Executor, rows: readonly MailDeliveryRow[]): Promise<void> {
  await executor.insertInto("mailDeliveries").values(rows).execute();
}

export async function deleteMailDelivery(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("mailDeliveries").where("id", "=", id).execute();
}

/** Removes e-mails that nobody sends any more. Returns their number. */
export async function removeMailDeliveriesBefore(executor: Executor, createdAt: number): Promise<number> {
  const result = await executor.deleteFrom("mailDeliveries").where("createdAt", "<", createdAt).executeTakeFirst();
  return Number(result.numDeletedRows);
}
