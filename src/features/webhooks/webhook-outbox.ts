/** Stores events in the transaction of what they report, one delivery per endpoint. */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import { findFullEndpoints, insertWebhookDeliveries } from "./delivery-queries.ts";
import { findSubscribedEndpoints } from "./endpoints/endpoint-queries.ts";
import { isProjectEvent } from "./endpoints/project-events.ts";
import type { WebhookEndpoint } from "./settings.ts";
import type { WebhookEvent, WebhookEventType } from "./webhook-event.ts";

/** Deliveries that wait for an endpoint of a project, whose receiver may be away: further events are not stored. */
export const MAX_WAITING = 5_000;

type DropListener = (type: WebhookEventType, endpoint: string) => void;

export class WebhookOutbox {
  #endpoints: readonly WebhookEndpoint[];
  readonly #listeners: (() => void)[] = [];
  readonly #projectListeners: (() => void)[] = [];
  readonly #dropListeners: DropListener[] = [];

  constructor(endpoints: readonly WebhookEndpoint[]) {
    this.#endpoints = endpoints;
  }

  get endpoints(): readonly WebhookEndpoint[] {
    return this.#endpoints;
  }

  /** Takes effect for the next event. */
  replace(endpoints: readonly WebhookEndpoint[]): void {
    this.#endpoints = endpoints;
  }

  /** Calls `listener` after each addition, whose transaction may not be committed yet. */
  onAdded(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Calls `listener` after each addition for an endpoint of a project. */
  onAddedForProject(listener: () => void): void {
    this.#projectListeners.push(listener);
  }

  /** Calls `listener` with the type of each event that an endpoint of a project does not get, because too many wait. */
  onDropped(listener: DropListener): void {
    this.#dropListeners.push(listener);
  }

  isSubscribed(...types: readonly WebhookEventType[]): boolean {
    return this.endpoints.some(({ events }) => types.some((type) => events.includes(type)));
  }

  /** Adds one delivery for each endpoint that wants the event: those of the configuration, and those of its project. */
  async add(executor: Executor, event: WebhookEvent, now: number): Promise<void> {
    const configured = this.endpoints.filter(({ events }) => events.includes(event.type)).map(({ url }) => url);
    const ofProject = await this.#endpointsOfProject(executor, event);
    if (configured.length + ofProject.length === 0) return;
    await this.#insert(executor, event, [...configured, ...ofProject], now);
    if (ofProject.length > 0) for (const listener of this.#projectListeners) listener();
    this.wake();
  }

  /** Stores a test event for one endpoint, whatever events it wants. Returns the delivery's id. */
  async addTest(executor: Executor, { url }: WebhookEndpoint, now: number): Promise<string> {
    const event: WebhookEvent = { type: "webhook.test", data: { message: "This is a test of the endpoint." } };
    const [id = ""] = await this.#insert(executor, event, [url], now);
    return id;
  }

  /** Has what is due sent soon: the transaction that added it may not be committed yet. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns the IDs of the project's endpoints that get the event. */
  async #endpointsOfProject(executor: Executor, event: WebhookEvent): Promise<string[]> {
    if (!isProjectEvent(event)) return [];
    const subscribed = await findSubscribedEndpoints(executor, event.data.project_id, event.type);
    if (subscribed.length === 0) return [];
    const full = new Set(await findFullEndpoints(executor, subscribed, MAX_WAITING));
    for (const endpoint of full) for (const listener of this.#dropListeners) listener(event.type, endpoint);
    return subscribed.filter((endpoint) => !full.has(endpoint));
  }

  /** Returns the ids of the deliveries. */
  async #insert(executor: Executor, event: WebhookEvent, endpoints: readonly string[], now: number): Promise<string[]> {
    const delivery = { ...toPayload(event, now), type: event.type, createdAt: now, attempts: 0, dueAt: now };
    const rows = endpoints.map((endpoint) => ({ ...delivery, id: newId("whd_"), endpoint }));
    await insertWebhookDeliveries(executor, rows);
    return rows.map(({ id }) => id);
  }
}

/** Returns a new event as the body that is sent. */
export function toPayload({ type, data }: WebhookEvent, now: number): { eventId: string; payload: string } {
  const eventId = newId("evt_");
  // The fields of OpenAI's events, whose clients read `created_at`, and the timestamp of Standard Webhooks.
  const times = { created_at: Math.floor(now / 1000), timestamp: new Date(now).toISOString() };
  return { eventId, payload: JSON.stringify({ id: eventId, object: "event", ...times, type, data }) };
}
