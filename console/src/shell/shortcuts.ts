/** Keys of the console. A page's letter follows `g`, as in other consoles. */

export const PAGE_KEYS = {
  c: { to: "/chat", label: "Chat" },
  t: { to: "/talk", label: "Talk" },
  o: { to: "/overview", label: "Overview" },
  r: { to: "/requests", label: "Requests" },
  u: { to: "/usage", label: "Usage" },
  m: { to: "/models", label: "Models" },
  p: { to: "/projects", label: "Projects" },
} as const;

export const MODIFIER: string = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? "") ? "⌘" : "Ctrl";

interface ShortcutGroup {
  title: string;
  shortcuts: { keys: readonly string[]; label: string }[];
}

export const SHORTCUTS: readonly ShortcutGroup[] = [
  {
    title: "Everywhere",
    shortcuts: [
      { keys: [MODIFIER, "K"], label: "Find pages, models and actions" },
      { keys: ["?"], label: "Show these shortcuts" },
      { keys: ["Shift", "D"], label: "Change between light and dark" },
    ],
  },
  {
    title: "Chat",
    shortcuts: [
      { keys: ["Enter"], label: "Send" },
      { keys: ["Shift", "Enter"], label: "Begin a line" },
      { keys: [MODIFIER, "Shift", "O"], label: "New conversation" },
      { keys: ["Esc"], label: "Stop the answer" },
    ],
  },
  {
    title: "Go to",
    shortcuts: Object.entries(PAGE_KEYS).map(([key, { label }]) => ({ keys: ["g", key], label })),
  },
];
