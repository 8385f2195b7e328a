/** Webhook endpoints of projects. Times are epoch milliseconds. */

export interface WebhookEndpointRow {
  /** `whe_…`; deliveries name it in place of a URL. */
  id: string;
  projectId: string;
  name: string;
  url: string;
  /** Types of events, as a JSON array. */
  events: string;
  /** Encrypted. */
  secret: Buffer;
  /** Last characters of the secret. */
  secretHint: string;
  /** Encrypted secret before the last rotation, which still signs until `formerSecretUntil`; null: none. */
  formerSecret: Buffer | null;
  formerSecretUntil: number | null;
  createdAt: number;
  /** Time of the last change of the settings or the secret. */
  updatedAt: number;
}

declare module "../../../storage/schema.ts" {
  interface Schema {
    webhookEndpoints: WebhookEndpointRow;
  }
}
