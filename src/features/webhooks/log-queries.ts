/** The log of deliveries, which administrators read. */

import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { WebhookLogRow } from "./webhook-rows.ts";

/** Records an attempt in place of the delivery's previous one. */
export async function recordWebhookAttempt(executor: Executor, row: WebhookLogRow): Promise<void> {
  const { state, attempts, attemptedAt, durationMs, status, answer } = row;
  await executor
    .insertInto("webhookLog")
    .values(row)
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ state, attempts, attemptedAt, durationMs, status, answer }),
    )
    .execute();
}

export interface WebhookLogRequest extends PageRequest {
  endpoint: string | undefined;
  state: WebhookLogRow["state"] | undefined;
}

export async function listWebhookLog(executor: Executor, request: WebhookLogRequest): Promise<Page<WebhookLogRow>> {
  const { endpoint, state } = request;
  const scope = executor.selectFrom("webhookLog").selectAll();
  const ofEndpoint = endpoint === undefined ? scope : scope.where("endpoint", "=", endpoint);
  return readPage(
    request,
    "createdAt",
    scope,
    state === undefined ? ofEndpoint : ofEndpoint.where("state", "=", state),
  );
}

export async function findWebhookLog(executor: Executor, id: string): Promise<WebhookLogRow | undefined> {
  return executor.selectFrom("webhookLog").selectAll().where("id", "=", id).executeTakeFirst();
}

export interface EndpointSummary {
  endpoint: string;
  state: WebhookLogRow["state"];
  count: number;
  attemptedAt: number;
}

export async function summarizeWebhookLog(executor: Executor): Promise<EndpointSummary[]> {
  const rows = await executor
    .selectFrom("webhookLog")
    .select(["endpoint", "state"])
    .select(({ fn }) => [
      fn.countAll<number | string>().as("count"),
      fn.max<number | string>("attemptedAt").as("attemptedAt"),
    ])
    .groupBy(["endpoint", "state"])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count), attemptedAt: Number(row.attemptedAt) }));
}

export async function removeWebhookLogBefore(executor: Executor, createdAt: number): Promise<number> {
  const result = await executor.deleteFrom("webhookLog").where("createdAt", "<", createdAt).executeTakeFirst();
  return Number(result.numDeletedRows);
}
