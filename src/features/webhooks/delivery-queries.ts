/** The outbox of webhooks: one row per event and endpoint until it is delivered. */

import type { Executor } from "../../storage/database.ts";
import type { WebhookDeliveryRow } from "./webhook-rows.ts";

export async function insertWebhookDeliveries(executor: Executor, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  await executor.insertInto("webhookDeliveries").values(rows).execute();
}

/** Returns those of the endpoints for which at least `max` deliveries wait. */
export async function findFullEndpoints(
  executor: Executor,
  endpoints: readonly string[],
  max: number,
): Promise<string[]> {
  const rows = await executor
    .selectFrom("webhookDeliveries")
    .select("endpoint")
    .where("endpoint", "in", endpoints)
    .groupBy("endpoint")
    .having(({ fn }) => fn.countAll(), ">=", max)
    .execute();
  return rows.map(({ endpoint }) => endpoint);
}

export async function deleteWebhookDelivery(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("webhookDeliveries").where("id", "=", id).execute();
}

/** Makes a delivery due, which is in the outbox or was there: its attempts begin again. */
export async function requeueWebhookDelivery(executor: Executor, row: WebhookDeliveryRow): Promise<void> {
  await executor
    .insertInto("webhookDeliveries")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ dueAt: row.dueAt }))
    .execute();
}

/** Counts deliveries that were not attempted or have to be repeated, by endpoint. */
export async function countPendingDeliveries(executor: Executor): Promise<{ endpoint: string; count: number }[]> {
  const counts = executor
    .selectFrom("webhookDeliveries")
    .select(["endpoint", ({ fn }) => fn.countAll<number | string>().as("count")]);
  const rows = await counts.groupBy("endpoint").execute();
  return rows.map(({ endpoint, count }) => ({ endpoint, count: Number(count) }));
}

/** Removes deliveries to endpoints that are no longer configured. Returns their number. */
export async function removeWebhookDeliveriesBefore(executor: Executor, createdAt: number): Promise<number> {
  const result = await executor.deleteFrom("webhookDeliveries").where("createdAt", "<", createdAt).executeTakeFirst();
  return Number(result.numDeletedRows);
}
