import type { AuditEvent } from "../accounts/index.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** Returns what webhooks report of a change; undefined: nothing. */
export function toWebhookEvent({
  type,
  resourceId,
  organizationId,
  project,
  details,
}: AuditEvent): WebhookEvent | undefined {
  const key = { id: resourceId, organization_id: organizationId, project_id: project?.id ?? null };
  if (type === "api_key.deleted") return { type, data: key };
  if (type !== "api_key.created") return undefined;
  return { type, data: { ...key, name: String(details.name), kind: details.kind === "project" ? "project" : "admin" } };
}
