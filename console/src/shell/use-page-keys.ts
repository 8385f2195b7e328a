import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { PAGE_KEYS } from "./shortcuts.ts";

/** Time in which a page's letter has to follow `g`. */
const SEQUENCE_MS = 1200;

/** Goes to a page by `g` and its letter, among the pages that the session may see. */
export function usePageKeys(pages: ReadonlySet<string>): void {
  const navigate = useNavigate();
  useEffect(() => {
    let startedAt = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const page = PAGE_KEYS[event.key as keyof typeof PAGE_KEYS];
      const follows = event.timeStamp - startedAt < SEQUENCE_MS;
      startedAt = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (!follows || page === undefined || !pages.has(page.to)) return;
      event.preventDefault();
      void navigate({ to: page.to });
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [navigate, pages]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
