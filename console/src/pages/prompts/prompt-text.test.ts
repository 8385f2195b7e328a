import { expect, test } from "vitest";
import { diffLines } from "./line-diff.ts";
import { allVariables, templateParts, toLines } from "./prompt-text.ts";

const CONTENT = {
  messages: [{ role: "user" as const, content: "About {{topic}},\n{{ words }} words" }],
  variables: [{ name: "words", type: "number" as const, default: 30 }],
  model: "writer",
};

test("shows content as lines", () => {
  expect(toLines(CONTENT)).toEqual([
    ...["user:", "  About {{topic}},", "  {{ words }} words", ""],
    ...["variable words: number, default 30", '  "model": "writer"'],
  ]);
});

test("lists the variables that messages have, also those that are not declared", () => {
  expect(allVariables(CONTENT)).toEqual([
    { name: "topic", type: "text" },
    { name: "words", type: "number", default: 30 },
  ]);
  expect(templateParts("a {{b}}c").map(({ text }) => text)).toEqual(["a ", "{{b}}", "c"]);
});

test("finds the lines that were added and removed", () => {
  const kinds = (before: string, after: string) =>
    diffLines([...before], [...after])
      .map(({ kind, text }) => ({ same: "", added: "+", removed: "-" })[kind] + text)
      .join(" ");
  expect(kinds("abcd", "abxd")).toBe("a b -c +x d");
  expect(kinds("abc", "abc")).toBe("a b c");
  expect(kinds("", "ab")).toBe("+a +b");
  expect(kinds("xaby", "aby")).toBe("-x a b y");
  expect(kinds("aa", "a")).toBe("a -a");
  const long = Array.from({ length: 3000 }, (_, index) => `before ${index}`);
  expect(
    diffLines(
      long,
      long.map((line) => `${line}!`),
    ),
  ).toHaveLength(6000);
});
