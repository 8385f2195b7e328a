import { newId } from "../../kernel/id.ts";
import { toErrorBody } from "../openai/error.ts";

/** Event that the server sends; `event_id` is added when it is sent. */
export interface ServerEvent {
  type: string;
  [field: string]: unknown;
}

/** Renders an event as the text of a message. */
export function toMessage({ type, ...fields }: ServerEvent): string {
  return JSON.stringify({ type, event_id: newId("event_"), ...fields });
}

/** Renders a failure. `clientEventId` names the client's event that caused it, if the client gave it an ID. */
export function toErrorEvent(failure: unknown, requestId: string, clientEventId: string | undefined): ServerEvent {
  const { error } = toErrorBody(failure, requestId);
  return { type: "error", error: { ...error, event_id: clientEventId ?? null } };
}
