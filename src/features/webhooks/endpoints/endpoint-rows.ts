/** Webhook endpoints of projects. Times are epoch milliseconds. */

import type { PersonalData } from "../../../storage/personal-data.ts";

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

export const webhookEndpointData = {
  webhookEndpoints: {
    reason: "Receivers of a project's events; the audit log says who changed them.",
    texts: { columns: { name: "prose", url: "label" }, within: "projectId" },
    impersonal: { events: "Types of events.", secretHint: "Random characters." },
  },
} as const satisfies PersonalData;
