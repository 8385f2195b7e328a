import { expect, test } from "vitest";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import { answeredMessages } from "./answered-messages.ts";

const ROLES = { s: "system", u: "user", a: "assistant", t: "tool" } as const;

/** `roles`: one letter for each message. Returns those that are new, in place of the others a dot. */
function newIn(roles: string): string {
  const letters = [...roles];
  const messages = letters.map((letter) => ({ role: ROLES[letter as keyof typeof ROLES], content: "" }) as ChatMessage);
  const answered = answeredMessages(messages);
  return messages.map((message, index) => (answered.has(message) ? "." : letters[index])).join("");
}

test.each([
  ["u", "u"],
  ["uu", "uu"],
  ["ua", "ua"],
  ["uau", "..u"],
  ["suauu", "...uu"],
  ["uaua", "..ua"],
  ["uat", "u.t"],
  ["uatat", "u...t"],
  ["uata", "u.ta"],
  ["uatau", "....u"],
  ["uauatt", "..u.tt"],
  ["a", "a"],
  ["", ""],
])("of %s, %s is new", (roles, expected) => {
  expect(newIn(roles)).toBe(expected);
});
