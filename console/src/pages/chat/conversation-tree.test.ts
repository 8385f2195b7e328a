import { expect, test } from "vitest";
import type { Turn } from "./conversation.ts";
import { branchesOf, parentOf, pathOf, select, withTurn } from "./conversation-tree.ts";

const turn = (id: string): Turn => ({ id, text: id, images: [], answers: [] });
const idsOf = (tree: Parameters<typeof pathOf>[0]) => pathOf(tree).map(({ id }) => id);

test("follows turns that were stored without branches", () => {
  const tree = { turns: [turn("a"), turn("b"), turn("c")] };
  expect(idsOf(tree)).toEqual(["a", "b", "c"]);
  expect(branchesOf(tree).get("b")).toEqual({ index: 0, count: 1 });
  expect(parentOf(tree, "c")).toBe("b");
  expect(parentOf(tree, "a")).toBeNull();
});

test("shows the newest branch, and another one with what followed it", () => {
  let tree = { turns: [turn("a"), turn("b"), turn("c")] } as Parameters<typeof pathOf>[0];
  tree = withTurn(tree, turn("b2"), "a");
  tree = withTurn(tree, turn("d"), "b2");
  expect(idsOf(tree)).toEqual(["a", "b2", "d"]);
  expect(branchesOf(tree).get("b2")).toEqual({ index: 1, count: 2 });
  tree = { ...tree, ...select(tree, "b2", -1) };
  expect(idsOf(tree)).toEqual(["a", "b", "c"]);
  tree = { ...tree, ...select(tree, "b", 1) };
  expect(idsOf(tree)).toEqual(["a", "b2", "d"]);
});

test("branches at the first turn, too", () => {
  const tree = withTurn({ turns: [turn("a"), turn("b")] }, turn("a2"), null);
  expect(idsOf(tree)).toEqual(["a2"]);
  expect(branchesOf(tree).get("a")).toEqual({ index: 0, count: 2 });
  expect(idsOf({ ...tree, ...select(tree, "a2", -1) })).toEqual(["a", "b"]);
  expect(idsOf({ ...tree, ...select(tree, "a2", 1) })).toEqual(["a2"]);
});

test("shows nothing of a conversation without turns", () => {
  expect(idsOf({ turns: [] })).toEqual([]);
});
