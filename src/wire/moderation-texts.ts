/** What moderation reads of a request, in any format. */

import type { Fault } from "../kernel/faults.ts";

export interface ModerationTexts {
  texts: readonly string[];
  /** Fault that names the first part other than text; thrown where unmoderated content must not pass. */
  unmoderatable: Fault | undefined;
}

/** Characters kept of each end of a joined message: longer texts are already moderated by themselves. */
const END_CHARACTERS = 200;

/**
 * Joins messages, because a model reads text that is split across them as one. Also joins the user's messages alone,
 * because an attacker can put other roles' messages in between, and joins without white space, for split words.
 */
export function joinedTexts(
  messages: ReadonlyArray<{ role: string }>,
  texts: readonly (readonly string[])[],
): string[] {
  if (messages.length < 2) return [];
  const ends = texts.map((each) => toEnds(each.join("\n")));
  const byUser = ends.filter((_, index) => messages[index]?.role === "user");
  const joined = new Set([ends.join("\n"), byUser.join("\n"), byUser.join("")]);
  return [...joined].filter((text) => text !== "");
}

function toEnds(text: string): string {
  if (text.length <= 2 * END_CHARACTERS) return text;
  return `${text.slice(0, END_CHARACTERS)}\n…\n${text.slice(-END_CHARACTERS)}`;
}

/** Keywords and IDs such as `high`, `object` or `call_7d4f…`, which are too short to moderate. */
const KEYWORD = /^[\w-]{1,40}$/;

/** Collects the words of a JSON value, including its keys, as one text; returns [] without words. */
export function writtenIn(value: unknown): string[] {
  const words = new Set<string>();
  if (typeof value === "string" && KEYWORD.test(value)) return [];
  const walk = (each: unknown): void => {
    if (typeof each === "string") words.add(each);
    if (typeof each !== "object" || each === null) return;
    for (const [key, inner] of Object.entries(each)) {
      if ((key === "id" || key === "type") && typeof inner === "string" && KEYWORD.test(inner)) continue;
      if (!Array.isArray(each)) words.add(key);
      walk(inner);
    }
  };
  walk(value);
  return words.size === 0 ? [] : [[...words].join("\n")];
}
