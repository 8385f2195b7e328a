import type { Caller } from "../../contracts/caller.ts";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import { type Accounts, mayStore } from "../accounts/index.ts";
import type { UserSessions } from "../sign-on/index.ts";
import { savedChatRoutes } from "./routes.ts";
import { savedChatRetention } from "./saved-chat-retention.ts";
import { SavedChats } from "./saved-chats.ts";
import { type ChatKeys, SealedChats } from "./sealed-chats.ts";
import { SharedChats } from "./shared-chats.ts";

interface SavedChatsParts {
  accounts: Accounts;
  userSessions: UserSessions;
  chatKeys: ChatKeys | undefined;
  config: Settings;
  database: Database;
  lifetime: AsyncDisposableStack;
  logger: Logger;
}

/** Conversations of the console's chat, each for the person who had it. */
export function openSavedChats({
  accounts,
  userSessions,
  chatKeys: keys,
  config,
  database,
  lifetime,
  logger,
}: SavedChatsParts): Feature {
  const settings = config.savedChats;
  lifetime.use(savedChatRetention({ database, keys, logger, keepDays: settings.keepDays }));
  const options = { database, sealed: keys?.sealed, settings };
  const mayStoreOf = (caller: Caller) => mayStore(accounts.callers.policyOf(caller, "retention"));
  return { project: [savedChatRoutes(userSessions, new SavedChats(options), new SharedChats(options), mayStoreOf)] };
}

/** Opens the keys of saved chats; undefined where none are saved. */
export function openChatKeys(parts: { config: Settings; database: Database; logger: Logger }): ChatKeys | undefined {
  if (!parts.config.savedChats.store) return undefined;
  const keyring = openContentKeys(parts, "chats of people");
  return keyring && { keyring, sealed: new SealedChats(keyring, parts.logger) };
}
