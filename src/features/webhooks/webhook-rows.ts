/** Tables of webhooks. */

import type { PersonalData } from "../../storage/personal-data.ts";

/** Delivery of an event to one endpoint, until it succeeds or is given up. */
export interface WebhookDeliveryRow {
  id: string;
  eventId: string;
  /** URL of an endpoint of the configuration, or ID of an endpoint of a project. */
  endpoint: string;
  type: string;
  /** The body, as JSON. */
  payload: string;
  createdAt: number;
  attempts: number;
  /** Also moved on by the process that attempts it, so no other one does. */
  dueAt: number;
}

/** Record of a delivery for administrators: what was sent, and how its last attempt ended. */
export interface WebhookLogRow extends Pick<WebhookDeliveryRow, "eventId" | "endpoint" | "type" | "payload"> {
  /** Id of the delivery. */
  id: string;
  createdAt: number;
  /** `retrying`: it is due again. */
  state: "delivered" | "retrying" | "failed";
  attempts: number;
  attemptedAt: number;
  durationMs: number;
  /** HTTP status; null: there was no answer. */
  status: number | null;
  /** Beginning of the answer, or why there was none. */
  answer: string;
}

interface DeploymentOutageRow {
  deployment: string;
  since: number;
  /** When a replica last found it down. */
  seenAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    webhookDeliveries: WebhookDeliveryRow;
    webhookLog: WebhookLogRow;
    deploymentOutages: DeploymentOutageRow;
  }
}

export const outageData = {
  deploymentOutages: { reason: "Outages of deployments.", impersonal: { deployment: "A deployment." } },
} as const satisfies PersonalData;
