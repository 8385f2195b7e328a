import type { SavedChat } from "./saved-chats-api.ts";

/** What pages show; the same object until it changes. */
export interface SyncState {
  /** `browser`: nobody is signed in, or the service saves no chats. */
  mode: "browser" | "account";
  /** Whether the service could not be reached last time. */
  isOffline: boolean;
  /** Conversations of the server, without those that are being deleted. */
  entries: readonly SavedChat[];
  /** Conversations whose content is being read for the first time. */
  loading: ReadonlySet<string>;
  /** Why a conversation stays in this browser. */
  problems: ReadonlyMap<string, string>;
}

export const NO_SYNC: SyncState = {
  mode: "browser",
  isOffline: false,
  entries: [],
  loading: new Set(),
  problems: new Map(),
};
