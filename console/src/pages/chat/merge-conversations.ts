/** Unites two versions of a conversation. Turns are only ever added, so neither version loses any. */

import type { Answer, Conversation, SavedState, Turn } from "./conversation.ts";

/** Returns the turns of both, and what is shown and set in `local`. */
export function mergeConversations(local: Conversation, remote: Conversation): Conversation {
  const localTurns = new Map(withParents(local).map((turn) => [turn.id, turn]));
  const turns = withParents(remote).map((turn) => {
    const same = localTurns.get(turn.id);
    localTurns.delete(turn.id);
    return same === undefined ? turn : { ...turn, ...same, answers: mergeAnswers(same.answers, turn.answers) };
  });
  const isNewer = local.changedAt >= remote.changedAt;
  return {
    ...(isNewer ? remote : local),
    ...(isNewer ? local : remote),
    changedAt: Math.max(local.changedAt, remote.changedAt),
    selected: { ...remote.selected, ...local.selected },
    turns: [...turns, ...localTurns.values()],
  };
}

/** Turns of older conversations follow the one before them, which a merge could change. */
function withParents({ turns }: Conversation): Turn[] {
  return turns.map((turn, index) =>
    turn.parent === undefined ? { ...turn, parent: turns[index - 1]?.id ?? null } : turn,
  );
}

function mergeAnswers(local: readonly Answer[], remote: readonly Answer[]): Answer[] {
  return Array.from({ length: Math.max(local.length, remote.length) }, (_each, column) =>
    moreComplete(local[column], remote[column]),
  ).filter((answer) => answer !== undefined);
}

const COMPLETENESS: Readonly<Record<Answer["state"], number>> = { stopped: 0, failed: 1, done: 2, running: 3 };

/** An answer that this browser receives is the newest version of it. */
function moreComplete(local: Answer | undefined, remote: Answer | undefined): Answer | undefined {
  if (local === undefined || remote === undefined) return local ?? remote;
  const difference = COMPLETENESS[local.state] - COMPLETENESS[remote.state];
  if (difference !== 0) return difference > 0 ? local : remote;
  return remote.text.length > local.text.length ? remote : local;
}

/** State of a conversation that contains both versions. */
export function laterState(one: SavedState | undefined, other: SavedState | undefined): SavedState | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { revision: Math.max(one.revision, other.revision), isChanged: true };
}
