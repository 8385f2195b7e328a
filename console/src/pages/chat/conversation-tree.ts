/** A conversation is a tree: an edited question, or another answer to the same one, is a branch beside the first. */

import type { Conversation, Turn } from "./conversation.ts";

type Tree = Pick<Conversation, "turns" | "selected">;

/** Key of the first turns in `Conversation.selected`. */
const ROOT = "";

/** Turns by the ID of the turn that they follow. Turns of older conversations each follow the one before. */
function childrenOf(turns: readonly Turn[]): Map<string, Turn[]> {
  const children = new Map<string, Turn[]>();
  for (const [index, turn] of turns.entries()) {
    const parent = (turn.parent === undefined ? turns[index - 1]?.id : turn.parent) ?? ROOT;
    children.set(parent, [...(children.get(parent) ?? []), turn]);
  }
  return children;
}

/** The turns that are shown: from the first one along the selected branches, otherwise along the newest ones. */
export function pathOf({ turns, selected = {} }: Tree): Turn[] {
  const children = childrenOf(turns);
  const path: Turn[] = [];
  let parent = ROOT;
  for (;;) {
    const siblings = children.get(parent);
    const turn = siblings?.find(({ id }) => id === selected[parent]) ?? siblings?.at(-1);
    if (turn === undefined || path.length > turns.length) return path;
    path.push(turn);
    parent = turn.id;
  }
}

interface Branch {
  /** Position among the turns that stand in place of each other, in the order in which they were added. */
  index: number;
  count: number;
}

/** Position of each turn among its branches. */
export function branchesOf({ turns }: Tree): Map<string, Branch> {
  const siblings = [...childrenOf(turns).values()];
  return new Map(siblings.flatMap((list) => list.map(({ id }, index) => [id, { index, count: list.length }] as const)));
}

/** Adds a turn after `parent`, or as another first one, and shows it. */
export function withTurn(tree: Tree, turn: Turn, parent: string | null): Required<Tree> {
  return {
    turns: [...tree.turns, { ...turn, parent }],
    selected: { ...tree.selected, [parent ?? ROOT]: turn.id },
  };
}

/** Shows the branch that stands `offset` places after that of a turn. */
export function select(tree: Tree, turnId: string, offset: number): Pick<Required<Tree>, "selected"> {
  for (const [parent, siblings] of childrenOf(tree.turns)) {
    const index = siblings.findIndex(({ id }) => id === turnId);
    const next = index < 0 ? undefined : siblings[index + offset];
    if (next !== undefined) return { selected: { ...tree.selected, [parent]: next.id } };
  }
  return { selected: tree.selected ?? {} };
}

/** ID of the turn that it follows; null: it is a first one. */
export function parentOf({ turns }: Tree, turnId: string): string | null {
  for (const [parent, siblings] of childrenOf(turns)) {
    if (siblings.some(({ id }) => id === turnId)) return parent === ROOT ? null : parent;
  }
  return null;
}
