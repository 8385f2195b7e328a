import { expect, test } from "vitest";
import { hasMath, withMathDelimiters } from "./math-delimiters.ts";

test.each([
  ["takes $O(n \\log n)$ steps", "takes $$O(n \\log n)$$ steps"],
  ["the value \\(x^2\\) is", "the value $$x^2$$ is"],
  ["so\n\\[ a = b \\]\nand", "so\n\n$$\na = b\n$$\n\nand"],
  ["$$T(n) = n$$", "$$\nT(n) = n\n$$"],
  ["with $x$.", "with $$x$$."],
])("delimits formulas in %j", (text, expected) => {
  expect(withMathDelimiters(text)).toBe(expected);
  expect(hasMath(text)).toBe(true);
});

test.each([
  "costs $5 and $10",
  "`$x$` and ``a `$y$` ``",
  "```sh\necho $HOME $PATH$\n```",
  "```sh\necho $A$B$",
  "US$ and A$ b$",
  "\\$x$",
])("leaves %j", (text) => {
  expect(withMathDelimiters(text)).toBe(text);
  expect(hasMath(text)).toBe(false);
});
