/** Events that concern one project, which its endpoints can get. */

import { invalidRequest } from "../../../kernel/faults.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEvent, type WebhookEventType } from "../webhook-event.ts";

export type ProjectEventType = Extract<WebhookEventType, `batch.${string}` | `response.${string}`>;

export function isProjectEventType(type: string): type is ProjectEventType {
  return /^(batch|response)\./.test(type) && (WEBHOOK_EVENT_TYPES as readonly string[]).includes(type);
}

export const PROJECT_EVENT_TYPES: readonly ProjectEventType[] = WEBHOOK_EVENT_TYPES.filter(isProjectEventType);

export function isProjectEvent(event: WebhookEvent): event is WebhookEvent<ProjectEventType> {
  return isProjectEventType(event.type);
}

/** Returns the types without repetitions. Throws a Fault for one that no project gets. */
export function checkEventTypes(types: readonly string[], param = "event_types"): ProjectEventType[] {
  const unknown = types.find((type) => !isProjectEventType(type));
  if (unknown === undefined) return [...new Set(types)].filter(isProjectEventType);
  const message = `This service sends no events of type ${JSON.stringify(unknown)} to projects. Types: ${PROJECT_EVENT_TYPES.join(", ")}.`;
  throw invalidRequest(message, param, "invalid_value");
}

/** An event as it is sent, about an object that does not exist. */
export function sampleEvent(type: ProjectEventType, projectId: string): WebhookEvent<ProjectEventType> {
  const id = type.startsWith("batch.") ? "batch_test" : "resp_test";
  return { type, data: { id, project_id: projectId } };
}
