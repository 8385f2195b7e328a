import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { listChatsOfOtherKeys, removeChatsBefore, removeChatsOfArchived, updateChat } from "./saved-chat-queries.ts";
import type { ChatKeys, SavedChatPlace } from "./sealed-chats.ts";

export interface SavedChatRetentionOptions {
  database: Database;
  /** Undefined: chats are no longer saved, and earlier ones expire. */
  keys: ChatKeys | undefined;
  logger: Logger;
  keepDays: number;
}

const REMOVED_AT_ONCE = 50;
/** Each may have megabytes. */
const SEALED_AT_ONCE = 5;

/** Deletes chats that did not change for the configured days and those of archived projects, and encrypts others with the current key. */
export function savedChatRetention({ database, keys, logger, keepDays }: SavedChatRetentionOptions): Retention {
  const removeExpired = (now: number) =>
    database.transaction((executor) => removeChatsBefore(executor, now - keepDays * DAY_MS, REMOVED_AT_ONCE));
  const removeOfArchived = () => database.transaction((executor) => removeChatsOfArchived(executor, REMOVED_AT_ONCE));
  const hasFormerKeys = keys !== undefined && keys.keyring.searchKeys.length > 1;
  return new Retention({
    subject: "saved chats",
    logger,
    ...(hasFormerKeys && { intervalMs: MINUTE_MS }),
    steps: [removeExpired, removeOfArchived, ...(hasFormerKeys ? [sealAgain(database, keys)] : [])],
  });
}

/** Returns what encrypts some chats of former keys with the current one, those of the first person first. */
function sealAgain(database: Database, { keyring, sealed }: ChatKeys): () => Promise<number> {
  let last: SavedChatPlace = { userId: "", projectId: "", id: "" };
  return async () => {
    const header = keyring.currentHeader;
    const rows = await database.run((executor) => listChatsOfOtherKeys(executor, header, last, SEALED_AT_ONCE));
    for (const row of rows) {
      last = row;
      const change = sealed.sealAgain(row);
      if (change !== undefined) await database.run((executor) => updateChat(executor, row, change));
    }
    return rows.length;
  };
}
