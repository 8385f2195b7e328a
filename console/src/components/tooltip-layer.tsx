import { useEffect, useRef } from "react";

const OPEN_DELAY_MS = 300;
const GAP = 6;
const MARGIN = 4;
const ATTRIBUTE = "data-tooltip";

/** The one tooltip of the console, at the element with a label that the pointer or the keyboard is on. */
export function TooltipLayer() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current === null) return;
    const element = box.current;
    const listeners = new AbortController();
    let target: Element | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const labels = new MutationObserver(() => {
      if (element.matches(":popover-open")) show();
    });
    const show = () => {
      const label = target?.isConnected ? target.getAttribute(ATTRIBUTE) : null;
      if (target === null || label === null) return hide();
      element.textContent = label;
      element.showPopover();
      place(element, target.getBoundingClientRect());
    };
    const hide = () => {
      clearTimeout(timer);
      labels.disconnect();
      target = null;
      if (element.matches(":popover-open")) element.hidePopover();
    };
    const aim = (next: Element | null, delayMs: number) => {
      if (next === target) return;
      hide();
      if (next === null) return;
      target = next;
      labels.observe(next, { attributeFilter: [ATTRIBUTE] });
      timer = setTimeout(show, delayMs);
    };
    const labeled = ({ target: node }: Event) => (node instanceof Element ? node.closest(`[${ATTRIBUTE}]`) : null);
    const on = <Name extends keyof DocumentEventMap>(name: Name, handle: (event: DocumentEventMap[Name]) => void) =>
      document.addEventListener(name, handle, { signal: listeners.signal, capture: true, passive: true });
    on("pointerover", (event) => {
      // A finger has no pointer to rest: its tap acts at once.
      if (event.pointerType !== "touch") aim(labeled(event), OPEN_DELAY_MS);
    });
    on("focusin", (event) => {
      if (event.target instanceof Element && event.target.matches(":focus-visible")) aim(labeled(event), 0);
    });
    on("focusout", hide);
    on("scroll", hide);
    on("keydown", ({ key }) => {
      if (key === "Escape") hide();
    });
    // What was clicked may be gone, as a button that dismisses its card.
    on("click", () => setTimeout(() => target?.isConnected === false && hide()));
    document.documentElement.addEventListener("pointerleave", hide, { signal: listeners.signal });
    return () => {
      listeners.abort();
      hide();
    };
  }, []);
  return <div ref={box} className="tooltip" popover="manual" aria-hidden="true" />;
}

/** Above the target, or below it where there is no room, within the window. */
function place(element: HTMLElement, target: DOMRect): void {
  const { width, height } = element.getBoundingClientRect();
  const left = target.left + (target.width - width) / 2;
  const above = target.top - height - GAP;
  const top = above >= MARGIN ? above : target.bottom + GAP;
  const maxLeft = document.documentElement.clientWidth - width - MARGIN;
  Object.assign(element.style, { left: `${Math.max(MARGIN, Math.min(left, maxLeft))}px`, top: `${top}px` });
}
