import { expect, test } from "vitest";
import type { ConversationTitle } from "../stored-conversations.ts";
import { foldersOf, groupConversations } from "./group-conversations.ts";

const NOW = new Date(2026, 10, 25, 12).getTime();
const HOUR_MS = 60 * 60 * 1000;

function title(id: string, hours: number, part: Partial<ConversationTitle> = {}): ConversationTitle {
  return { id, title: id, changedAt: NOW - hours * HOUR_MS, folder: null, isPinned: false, shareId: null, ...part };
}

test("groups conversations by pin, folder and age, in their order", () => {
  const titles = [
    title("a", 1),
    title("b", 2, { folder: "Work" }),
    title("c", 13, { isPinned: true, folder: "Work" }),
    title("d", 14),
    title("e", 30, { folder: "Home" }),
    title("f", 24 * 6),
    title("g", 24 * 40),
  ];
  const groups = groupConversations(titles, NOW).map(({ id, titles: each }) => [id, each.map((one) => one.id).join()]);
  expect(groups).toEqual([
    ["pinned", "c"],
    ["folder Home", "e"],
    ["folder Work", "b"],
    ["today", "a"],
    ["week", "d,f"],
    ["earlier", "g"],
  ]);
  expect(foldersOf(titles)).toEqual(["Home", "Work"]);
});

test("leaves out empty groups", () => {
  expect(groupConversations([], NOW)).toEqual([]);
  expect(groupConversations([title("a", 0)], NOW)).toHaveLength(1);
});
