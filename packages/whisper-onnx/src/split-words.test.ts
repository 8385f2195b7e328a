import { expect, test } from "vitest";
import { splitWords } from "./split-words.ts";

/** Tokens are indices into a list of byte strings. */
function split(parts: readonly (string | Uint8Array)[], language?: string): string[] {
  const bytes = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  const decode = (tokens: readonly number[]) =>
    Buffer.concat(tokens.map((token) => bytes[token] ?? Buffer.alloc(0))).toString();
  return splitWords([...parts.keys()], { decode }, language).map(({ text }) => text);
}

test.each([
  ["splits words at spaces", [" He", " was", " not"], "en", [" He", " was", " not"]],
  ["keeps the parts of a word together", [" ill", "-", "dis", "posed", ","], "en", [" ill-disposed,"]],
  ["attaches opening marks to the next word", [" said", ' "', "Yes", '."'], "en", [" said", ' "Yes."']],
  ["splits a language without spaces by character", ["天", "地", "。"], "zh", ["天", "地。"]],
  [
    "joins a character that spans two tokens",
    [" na", Uint8Array.of(0xc3), Uint8Array.of(0xaf), "ve", " day"],
    "fr",
    [" naïve", " day"],
  ],
  ["keeps half a character at the end", [" a", Uint8Array.of(0xc3)], "en", [" a\uFFFD"]],
] as const)("%s", (_name, parts, language, words) => {
  expect(split(parts, language)).toEqual(words);
});
