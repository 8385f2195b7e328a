import type { BaseParts, Feature, ServiceParts } from "../feature.ts";
import { openContentKeys } from "../responses/feature.ts";
import { savedChatRoutes } from "./routes.ts";
import { savedChatRetention } from "./saved-chat-retention.ts";
import { SavedChats } from "./saved-chats.ts";
import { type ChatKeys, SealedChats } from "./sealed-chats.ts";

/** Conversations of the console's chat, each for the person who had it. */
export function openSavedChats({
  accounts,
  chatKeys: keys,
  config,
  database,
  lifetime,
  logger,
}: ServiceParts): Feature {
  const settings = config.savedChats;
  lifetime.use(savedChatRetention({ database, keys, logger, keepDays: settings.keepDays }));
  return { project: [savedChatRoutes(accounts, new SavedChats({ database, sealed: keys?.sealed, settings }))] };
}

/** Opens the keys of saved chats; undefined where none are saved. */
export function openChatKeys(parts: Pick<BaseParts, "config" | "database" | "logger">): ChatKeys | undefined {
  if (!parts.config.savedChats.store) return undefined;
  const keyring = openContentKeys(parts, "chats of people");
  return keyring && { keyring, sealed: new SealedChats(keyring, parts.logger) };
}
