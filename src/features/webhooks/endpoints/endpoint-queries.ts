/** Webhook endpoints, which callers find through their project only. */

import type { Executor } from "../../../storage/database.ts";
import type { ProjectResource } from "../../../storage/project-resource.ts";
import type { WebhookEndpointRow } from "./endpoint-rows.ts";

export async function insertEndpoint(executor: Executor, row: WebhookEndpointRow): Promise<void> {
  await executor.insertInto("webhookEndpoints").values(row).execute();
}

/** Lists the endpoints of a project, newest first. */
export async function listEndpointsOf(executor: Executor, projectId: string): Promise<WebhookEndpointRow[]> {
  return executor
    .selectFrom("webhookEndpoints")
    .selectAll()
    .where("projectId", "=", projectId)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .execute();
}

export async function findEndpoint(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<WebhookEndpointRow | undefined> {
  return executor
    .selectFrom("webhookEndpoints")
    .selectAll()
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Finds the endpoint of a delivery. */
export async function findEndpointById(executor: Executor, id: string): Promise<WebhookEndpointRow | undefined> {
  return executor.selectFrom("webhookEndpoints").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function updateEndpoint(
  executor: Executor,
  id: string,
  change: Partial<Omit<WebhookEndpointRow, "id" | "projectId" | "createdAt">>,
): Promise<void> {
  await executor.updateTable("webhookEndpoints").set(change).where("id", "=", id).execute();
}

/** Deletes an endpoint with its deliveries. */
export async function deleteEndpoint(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("webhookDeliveries").where("endpoint", "=", id).execute();
  await executor.deleteFrom("webhookEndpoints").where("id", "=", id).execute();
}

/** Deletes all endpoints of a project with their deliveries. */
export async function removeWebhookEndpointsOf(executor: Executor, projectId: string): Promise<void> {
  const ids = executor.selectFrom("webhookEndpoints").select("id").where("projectId", "=", projectId);
  await executor.deleteFrom("webhookDeliveries").where("endpoint", "in", ids).execute();
  await executor.deleteFrom("webhookEndpoints").where("projectId", "=", projectId).execute();
}

/** Returns the IDs of a project's endpoints that want events of the type. */
export async function findSubscribedEndpoints(executor: Executor, projectId: string, type: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("webhookEndpoints")
    .select(["id", "events"])
    .where("projectId", "=", projectId)
    .execute();
  return rows.filter(({ events }) => (JSON.parse(events) as string[]).includes(type)).map(({ id }) => id);
}

export async function hasEndpoints(executor: Executor): Promise<boolean> {
  return (await executor.selectFrom("webhookEndpoints").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Lists endpoints of all projects in the order of their IDs, for the encryption with a new key. */
export async function listEndpointsAfter(
  executor: Executor,
  after: string,
  limit: number,
): Promise<WebhookEndpointRow[]> {
  return executor
    .selectFrom("webhookEndpoints")
    .selectAll()
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}
