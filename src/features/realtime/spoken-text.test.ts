import { expect, test } from "vitest";
import { SentenceSplitter, textHeardUntil } from "./spoken-text.ts";

function split(pieces: readonly string[]): string[] {
  const splitter = new SentenceSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

test.each([
  [
    ["Hello", " there. How", " are you?"],
    ["Hello there. ", "How are you?"],
  ],
  [
    ["It costs 3.", "5 euros. ", "Cheap."],
    ["It costs 3.5 euros. ", "Cheap."],
  ],
  [
    ["One line\n", "another"],
    ["One line\n", "another"],
  ],
  [["No end"], ["No end"]],
  [[""], []],
])("cuts %o into sentences once the next one begins", (pieces, sentences) => {
  expect(split(pieces)).toEqual(sentences);
});

test("speaks the first clause of a long sentence early, and later sentences as they are", () => {
  const clause = "Because the weather was so nice yesterday afternoon, ";
  const rest = "we stayed outside. ";
  const second = "It surprised everyone in the town and beyond it, and us. ";
  expect(split([clause, `${rest}${second}`, "End."])).toEqual([clause, rest, second, "End."]);
});

test("cuts text without spaces, which would be segmented again with each piece", () => {
  const pieces = split(Array.from({ length: 1000 }, () => "word"));
  expect(pieces.join("")).toBe("word".repeat(1000));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(420);
});

test("cuts text without sentences at a space", () => {
  const pieces = split(Array.from({ length: 300 }, () => "word "));
  expect(pieces.join("")).toBe("word ".repeat(300));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(420);
});

test.each([
  [0, ""],
  [500, "One two"],
  [1000, "One two three four."],
  [1500, "One two three four. Five"],
  [5000, "One two three four. Five six."],
])("keeps the words that were heard in %i ms", (ms, text) => {
  const spoken = [
    { text: "One two three four. ", startMs: 0, endMs: 1000 },
    { text: "Five six.", startMs: 1000, endMs: 2000 },
  ];
  expect(textHeardUntil(spoken, ms)).toBe(text);
});
