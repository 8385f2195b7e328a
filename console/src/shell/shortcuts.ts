import { type Message, msg } from "../i18n/translate.ts";
/** Keys of the console. A page's letter follows `g`, as in other consoles. */

export const PAGE_KEYS = {
  c: { to: "/chat", label: msg("Chat") },
  t: { to: "/talk", label: msg("Talk") },
  o: { to: "/overview", label: msg("Overview") },
  r: { to: "/requests", label: msg("Requests") },
  u: { to: "/usage", label: msg("Usage") },
  m: { to: "/models", label: msg("Models") },
  p: { to: "/projects", label: msg("Projects") },
} as const;

export const MODIFIER: string = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? "") ? "⌘" : "Ctrl";

interface ShortcutGroup {
  title: Message;
  shortcuts: { keys: readonly string[]; label: Message }[];
}

export const SHORTCUTS: readonly ShortcutGroup[] = [
  {
    title: msg("Everywhere"),
    shortcuts: [
      { keys: [MODIFIER, "K"], label: msg("Find pages, models and actions") },
      { keys: ["?"], label: msg("Show these shortcuts") },
      { keys: ["Shift", "D"], label: msg("Change between light and dark") },
    ],
  },
  {
    title: msg("Chat"),
    shortcuts: [
      { keys: ["Enter"], label: msg("Send") },
      { keys: ["Shift", "Enter"], label: msg("Begin a line") },
      { keys: [MODIFIER, "Shift", "O"], label: msg("New conversation") },
      { keys: ["Esc"], label: msg("Stop the answer") },
    ],
  },
  {
    title: msg("Go to"),
    shortcuts: Object.entries(PAGE_KEYS).map(([key, { label }]) => ({ keys: ["g", key], label })),
  },
];
