import type { ConversationTitle } from "../stored-conversations.ts";

export interface ConversationGroup {
  id: string;
  kind: "pinned" | "folder" | "today" | "week" | "earlier";
  /** Name of a folder. */
  name?: string;
  titles: ConversationTitle[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Groups titles, which are newest first: pinned ones, folders by name, then by age. Empty groups are left out. */
export function groupConversations(titles: readonly ConversationTitle[], now: number): ConversationGroup[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const groups: ConversationGroup[] = [{ id: "pinned", kind: "pinned", titles: [] }];
  const folders = foldersOf(titles).map((name) => ({
    id: `folder ${name}`,
    kind: "folder" as const,
    name,
    titles: [],
  }));
  groups.push(
    ...folders,
    { id: "today", kind: "today", titles: [] },
    { id: "week", kind: "week", titles: [] },
    { id: "earlier", kind: "earlier", titles: [] },
  );
  const byId = new Map(groups.map((group) => [group.id, group]));
  for (const title of titles) {
    const { isPinned, folder, changedAt } = title;
    const age = changedAt >= today ? "today" : changedAt >= today - 7 * DAY_MS ? "week" : "earlier";
    // untranslated: an ID
    byId.get(isPinned ? "pinned" : folder !== null ? `folder ${folder}` : age)?.titles.push(title);
  }
  return groups.filter(({ titles: { length } }) => length > 0);
}

/** Names of the folders, sorted. */
export function foldersOf(titles: readonly ConversationTitle[]): string[] {
  return [...new Set(titles.flatMap(({ folder }) => folder ?? []))].sort((a, b) => a.localeCompare(b));
}
