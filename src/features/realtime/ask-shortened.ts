import { Fault } from "../../kernel/faults.ts";
import type { ConversationItem } from "../../wire/realtime/conversation-items.ts";
import type { SessionSettings } from "../../wire/realtime/session-settings.ts";

/** Times that a prompt is shortened to fit the context window, by half of its items. */
const MAX_TRUNCATIONS = 10;

/** Asks a model, again with the newer half of the items where they do not fit and the session's truncation is not disabled. */
export async function askShortened<Answer>(
  items: ConversationItem[],
  truncation: SessionSettings["truncation"],
  ask: (items: ConversationItem[]) => Promise<Answer>,
): Promise<Answer> {
  let shown = items;
  for (let truncations = 0; ; truncations += 1) {
    try {
      return await ask(shown);
    } catch (failure) {
      const isTooLong = failure instanceof Fault && failure.code === "context_length_exceeded";
      const mayShorten = truncation === "auto" && truncations < MAX_TRUNCATIONS && shown.length > 1;
      if (!isTooLong || !mayShorten) throw failure;
      shown = withoutOlderHalf(shown);
    }
  }
}

/** Keeps the newer half, beginning with a message of the user where there is one. */
function withoutOlderHalf(items: readonly ConversationItem[]): ConversationItem[] {
  const newer = items.slice(Math.ceil(items.length / 2));
  const from = newer.findIndex((item) => item.type === "message" && item.role === "user");
  return newer.slice(Math.max(0, from));
}
