/** What the list of conversations changes: names, folders, pins and shared copies. */

import { chatStore } from "../chat-store.ts";
import { chatSync } from "../chat-sync.ts";
import type { Arrangement } from "../conversation.ts";
import { sharedContentOf } from "../saved-content.ts";
import { titleOf } from "../stored-conversations.ts";

/** Moves a conversation to a folder, or pins it. */
export async function arrange(id: string, { folder, isPinned }: Arrangement): Promise<void> {
  if (chatStore.account !== null) {
    await chatSync.request(id, (api) => api.arrange(id, { folder, is_pinned: isPinned }));
    return;
  }
  const conversation = chatStore.find(id);
  if (conversation !== undefined) chatStore.receive({ ...conversation, arrangement: { folder, isPinned } });
}

/** Gives a conversation a name; an empty one takes the beginning of the first question again. */
export async function rename(id: string, name: string): Promise<void> {
  await chatSync.open(id);
  const conversation = chatStore.find(id);
  if (conversation === undefined) return;
  const { title: _, ...unnamed } = conversation;
  const title = name.trim();
  const saved = conversation.saved && { ...conversation.saved, isChanged: true };
  chatStore.receive({ ...unnamed, ...(title !== "" && { title }), ...(saved && { saved }) });
  await chatSync.sync();
}

/** Shares the branch that is shown; a copy that exists is replaced under the same link. */
export async function share(id: string): Promise<void> {
  await chatSync.open(id);
  const conversation = chatStore.find(id);
  if (conversation === undefined) return;
  const copy = { title: titleOf(conversation), content: sharedContentOf(conversation) };
  await chatSync.request(id, (api) => api.share(id, copy));
}

export async function endSharing(id: string): Promise<void> {
  await chatSync.request(id, (api) => api.endSharing(id));
}
