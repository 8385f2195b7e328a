/** The outbox of webhooks: one row per event and endpoint until it is delivered. */

import type { Executor } from "../../storage/database.ts";
import type { WebhookDeliveryRow } from "./webhook-rows.ts";

export async function insertWebhookDeliveries(executor: Executor, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  await executor.insertInto("webhookDeliveries").values(rows).execute();
}

/**
 * Takes deliveries to this endpoint that are due, for one attempt. Nobody else takes them until `until`: a process that
 * ends in the middle of an attempt leaves them to another one.
 */
export async function claimWebhookDeliveries(
  executor: Executor,
  { endpoint, now, until, limit }: { endpoint: string; now: number; until: number; limit: number },
): Promise<WebhookDeliveryRow[]> {
  const due = executor
    .selectFrom("webhookDeliveries")
    .select("id")
    .where("dueAt", "<=", now)
    .where("endpoint", "=", endpoint)
    .orderBy("dueAt")
    .limit(limit);
  return (
    executor
      .updateTable("webhookDeliveries")
      .set((expression) => ({ dueAt: until, attempts: expression("attempts", "+", 1) }))
      .where("id", "in", due)
      // PostgreSQL checks it again after waiting for another process that claims the same row.
      .where("dueAt", "<=", now)
      .returningAll()
      .execute()
  );
}

export async function postponeWebhookDelivery(executor: Executor, id: string, dueAt: number): Promise<void> {
  await executor.updateTable("webhookDeliveries").set({ dueAt }).where("id", "=", id).execute();
}

export async function deleteWebhookDelivery(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("webhookDeliveries").where("id", "=", id).execute();
}

/** Removes deliveries to endpoints that are no longer configured. */
export async function removeWebhookDeliveriesBefore(executor: Executor, createdAt: number): Promise<void> {
  await executor.deleteFrom("webhookDeliveries").where("createdAt", "<", createdAt).execute();
}
