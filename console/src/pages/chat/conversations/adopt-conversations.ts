import { chatStore } from "../chat-store.ts";
import { mergeConversations } from "../merge-conversations.ts";
import { StoredConversations } from "../stored-conversations.ts";

/** Moves the conversations that belong to this browser among those of the account. */
export function adoptConversations(): void {
  const browser = new StoredConversations(null);
  for (const { id } of browser.list()) {
    const conversation = browser.load(id);
    if (conversation === undefined) continue;
    const same = chatStore.find(id);
    const merged = same === undefined ? conversation : mergeConversations(same, conversation);
    chatStore.receive({ ...merged, saved: { revision: same?.saved?.revision ?? 0, isChanged: true } });
    chatStore.flush();
    if (chatStore.stored.load(id) !== undefined) browser.remove(id);
  }
}
