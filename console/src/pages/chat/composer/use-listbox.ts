import { type KeyboardEvent, useEffect, useId, useState } from "react";

interface Listbox {
  /** ID of the list; its options have it and their position. */
  id: string;
  active: number;
  activeId: string | undefined;
  setActive: (index: number) => void;
  /** Handles a key of the text field above the list; returns whether it did. */
  onKey: (event: KeyboardEvent) => boolean;
}

/** Moves through options by the arrow keys while a text field has the focus. `restart`: begins at the first option. */
export function useListbox(count: number, onChoose: (index: number) => void, restart: unknown): Listbox {
  const id = useId();
  const [active, setActive] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search has other options
  useEffect(() => setActive(0), [restart]);
  const activeId = count > 0 ? `${id}-${active}` : undefined;
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
  }, [activeId]);
  const onKey = ({ key, nativeEvent, ...event }: KeyboardEvent): boolean => {
    if (count === 0 || nativeEvent.isComposing) return false;
    const step = STEPS[key];
    if (step !== undefined) setActive((index) => (index + step + count) % count);
    else if (key === "Enter" && !event.shiftKey) onChoose(active);
    else return false;
    return true;
  };
  return { id, active, activeId, setActive, onKey };
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
