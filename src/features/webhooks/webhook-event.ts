/** What webhooks report. The field names are those of the payload. */

export const WEBHOOK_EVENTS = [
  "api_key.created",
  "api_key.deleted",
  "spend_limit.reached",
  "deployment.down",
  "deployment.up",
  "batch.completed",
  "batch.failed",
  "batch.expired",
  "batch.cancelled",
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

interface ApiKeyData {
  id: string;
  organization_id: string;
  project_id: string | null;
}

export type WebhookEvent =
  | { type: "api_key.created"; data: ApiKeyData & { name: string; kind: "project" | "admin" } }
  | { type: "api_key.deleted"; data: ApiKeyData }
  | {
      type: "spend_limit.reached";
      data: {
        /** An organization, a project or a key. */
        scope_id: string;
        organization_id: string;
        /** Highest of 50, 80 and 100 that was reached. */
        percent: number;
        limit: { value: number; currency: "usd" };
        spent: { value: number; currency: "usd" };
        /** First day, such as 2026-11-01. */
        month: string;
        is_enforcing: boolean;
      };
    }
  | { type: "deployment.down"; data: { deployment: string; model: string; reason: string } }
  | { type: "deployment.up"; data: { deployment: string; model: string; down_seconds: number } }
  | {
      type: "batch.completed" | "batch.failed" | "batch.expired" | "batch.cancelled";
      data: { id: string; project_id: string };
    };
