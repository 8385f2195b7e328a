/** Tables of webhooks. */

/** Delivery of an event to one endpoint, until it succeeds or is given up. */
export interface WebhookDeliveryRow {
  id: string;
  eventId: string;
  /** URL of the endpoint. */
  endpoint: string;
  type: string;
  /** The body, as JSON. */
  payload: string;
  createdAt: number;
  attempts: number;
  /** Also moved on by the process that attempts it, so no other one does. */
  dueAt: number;
}

export interface DeploymentOutageRow {
  deployment: string;
  since: number;
  /** When a replica last found it down. */
  seenAt: number;
}
