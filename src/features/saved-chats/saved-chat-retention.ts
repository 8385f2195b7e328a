import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import { listChatsOfOtherKeys, removeChatsBefore, removeChatsOfArchived, updateChat } from "./saved-chat-queries.ts";
import type { SavedChatPlace, SealedChats } from "./sealed-chats.ts";

export interface SavedChatRetentionOptions {
  database: Database;
  keyring: Keyring;
  sealed: SealedChats;
  logger: Logger;
  keepDays: number;
}

const REMOVED_AT_ONCE = 50;
/** Each may have megabytes. */
const SEALED_AT_ONCE = 5;

/** Deletes chats that did not change for the configured days and those of archived projects, and encrypts others with the current key. */
export function savedChatRetention({
  database,
  keyring,
  sealed,
  logger,
  keepDays,
}: SavedChatRetentionOptions): Retention {
  const removeExpired = (now: number) =>
    database.transaction((executor) => removeChatsBefore(executor, now - keepDays * DAY_MS, REMOVED_AT_ONCE));
  const removeOfArchived = () => database.transaction((executor) => removeChatsOfArchived(executor, REMOVED_AT_ONCE));
  let last: SavedChatPlace = { userId: "", projectId: "", id: "" };
  const sealAgain = async () => {
    const header = keyring.currentHeader;
    const rows = await database.run((executor) => listChatsOfOtherKeys(executor, header, last, SEALED_AT_ONCE));
    for (const row of rows) {
      last = row;
      const change = sealed.sealAgain(row);
      if (change !== undefined) await database.run((executor) => updateChat(executor, row, change));
    }
    return rows.length;
  };
  const hasFormerKeys = keyring.searchKeys.length > 1;
  return new Retention({
    subject: "saved chats",
    logger,
    ...(hasFormerKeys && { intervalMs: MINUTE_MS }),
    steps: [removeExpired, removeOfArchived, ...(hasFormerKeys ? [sealAgain] : [])],
  });
}
