import { expect, test } from "vitest";
import { spokenText } from "./spoken-text.ts";

test("leaves out code, marks and addresses", () => {
  const markdown = [
    "## Result",
    "",
    "It is **bold** and `short`, see [the page](https://example.com/a) or https://example.com/b.",
    "",
    "```js",
    "alert(1)",
    "```",
    "- One",
    "- Two",
    "",
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
  ].join("\n");
  expect(spokenText(markdown)).toBe(
    "Result\nIt is bold and short, see the page or\nOne\nTwo\na b\n1 2".replace("a b", "a  b").replace("1 2", "1  2"),
  );
});

test("says nothing of an answer that is code, also while it is generated", () => {
  expect(spokenText("```html\n<p>Hello")).toBe("");
});

test("ends a long answer with a sentence", () => {
  const text = spokenText("This is a sentence. ".repeat(400));
  expect(text.length).toBeLessThanOrEqual(4000);
  expect(text.endsWith(".")).toBe(true);
});
