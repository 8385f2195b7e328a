/** IDs of tool calls: what clients see, and what chat templates get. */

import { randomBytes } from "node:crypto";

/** Length of the part behind the prefix, which the strictest chat templates require. */
export const CALL_ID_LENGTH = 9;

/** As in OpenAI's API. */
const PREFIX = "call_";

/** Behind the prefix letters and digits only, as the strictest chat templates require. */
export function newCallId(): string {
  const random = randomBytes(2 * CALL_ID_LENGTH).toString("base64");
  return PREFIX + random.replaceAll(/[^a-zA-Z0-9]/g, "").slice(0, CALL_ID_LENGTH);
}

/** Removes the prefix of an ID of this package; other IDs stay as they are. */
export function toTemplateCallId(id: string): string {
  const bare = id.slice(PREFIX.length);
  return id.startsWith(PREFIX) && bare.length === CALL_ID_LENGTH ? bare : id;
}
