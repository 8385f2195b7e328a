import type { Conversation } from "./conversation.ts";
import { pathOf } from "./conversation-tree.ts";
import { mergeConversations } from "./merge-conversations.ts";
import type { SavedChat } from "./saved-chats-api.ts";
import { type ConversationTitle, serialize } from "./stored-conversations.ts";

/** What the server stores of a conversation. */
export function contentOf({ saved: _saved, ...conversation }: Conversation): string {
  return serialize(conversation);
}

export function isSameContent(one: Conversation | undefined, other: Conversation): boolean {
  return one !== undefined && (one === other || contentOf(one) === contentOf(other));
}

/** A version of the server together with what this browser has changed; whether it contains more than the server has. */
export function uniteWithSaved(
  local: Conversation | undefined,
  remote: Conversation,
): { merged: Conversation; isChanged: boolean } {
  if (local === undefined || local.turns.length === 0 || local.saved?.isChanged === false) {
    // A branch that somebody reads is not exchanged under their eyes.
    return { merged: { ...remote, selected: { ...remote.selected, ...local?.selected } }, isChanged: false };
  }
  const merged = mergeConversations(local, remote);
  return { merged, isChanged: !isSameContent(merged, remote) };
}

/** What others read of a conversation: the branch that is shown, without parameters and IDs of requests. */
export function sharedContentOf(conversation: Conversation): string {
  const turns = pathOf(conversation).map(({ parent: _, ...turn }) => ({
    ...turn,
    answers: turn.answers.map(({ requestId: __, ...answer }) => answer),
  }));
  return serialize({ models: conversation.models, turns });
}

/** Titles of the server's chats and of those that this browser has, newest first. */
export function unionOf(entries: readonly SavedChat[], stored: readonly ConversationTitle[]): ConversationTitle[] {
  const local = new Map(stored.map((title) => [title.id, title]));
  const titles = entries.map(({ id, title, updated_at: seconds, folder, is_pinned: isPinned, share_id: shareId }) => {
    const here = local.get(id);
    local.delete(id);
    const changedAt = Math.max(seconds * 1000, here?.changedAt ?? 0);
    return { id, title: here?.title ?? title ?? "…", changedAt, folder, isPinned, shareId };
  });
  return [...titles, ...local.values()].sort((a, b) => b.changedAt - a.changedAt);
}
