import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Turn } from "./conversation.ts";

/** Turns that are shown at first, and each time the reader asks for more. */
const TURNS_AT_ONCE = 20;
/** Drawn within one frame. Two turns of middling length take some 15 ms, and an input waits for a frame. */
const TURNS_PER_FRAME = 2;

interface ShownTurns {
  /** Turns at the end of the conversation that are drawn. */
  count: number;
  isGrowing: boolean;
  /** Whether turns remain that only `showMore` draws. */
  hasMore: boolean;
  showMore: () => void;
}

/** How many turns are drawn: some more with every frame, above those on the screen, which stay where they are. */
export function useShownTurns(id: string, turns: readonly Turn[], viewport: RefObject<HTMLElement | null>): ShownTurns {
  const [shown, setShown] = useState({ id, count: TURNS_PER_FRAME, goal: TURNS_AT_ONCE });
  const heightBefore = useRef<number>(undefined);
  // Another conversation begins at its end.
  if (shown.id !== id) setShown({ id, count: TURNS_PER_FRAME, goal: TURNS_AT_ONCE });
  const { count, goal } = shown;
  const isGrowing = count < Math.min(goal, turns.length);
  useEffect(() => {
    if (!isGrowing) return;
    const frame = requestAnimationFrame(() => {
      heightBefore.current = viewport.current?.scrollHeight;
      setShown((last) => ({ ...last, count: Math.min(count + TURNS_PER_FRAME, goal) }));
    });
    return () => cancelAnimationFrame(frame);
  }, [isGrowing, count, goal, viewport]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when earlier turns were added
  useLayoutEffect(() => {
    const element = viewport.current;
    if (element === null || heightBefore.current === undefined) return;
    element.scrollTop += element.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
  }, [count]);
  const showMore = () => {
    if (!isGrowing) setShown((last) => ({ ...last, goal: last.count + TURNS_AT_ONCE }));
  };
  return { count, isGrowing, hasMore: goal < turns.length, showMore };
}
