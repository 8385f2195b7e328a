import { expect, test } from "vitest";
import { MarkdownWriter } from "./markdown-writer.ts";

function write(pieces: readonly string[]): string {
  let written = "";
  const writer = new MarkdownWriter(
    (text) => {
      written += text;
    },
    (style, text) => `<${style}>${text}</>`,
  );
  for (const piece of pieces) writer.add(piece);
  writer.end();
  return written;
}

const ANSWER = '# Title\nUse **bold** and `code`.\n```js\nconst x = "a"; // 1\n```\nDone * 2';
const STYLED =
  '<bold># Title</>\nUse <bold>bold</> and <cyan>code</>.\n<dim>```js</>\n<magenta>const</> x = <green>"a"</>; <dim>// 1</>\n<dim>```</>\nDone * 2';

test("styles headings, bold text, code and blocks of code", () => {
  expect(write([ANSWER])).toBe(STYLED);
});

test("styles text the same way when it comes letter by letter", () => {
  const plain = (text: string) => text.replace(/<\/>(<[a-z]+>)?/g, "").replace(/<[a-z]+>/g, "");
  expect(plain(write([...ANSWER]))).toBe(plain(STYLED));
  expect(write([..."**b** `c`"])).toBe("<bold>b</> <cyan>c</>");
});

test("writes no control characters, which would command the terminal", () => {
  const hostile = "a\u001b]52;c;AAAA\u0007b\u009b2J\rc\td\n```\n\u001b[2Jcode\n```";
  expect(write([hostile])).toBe(write(["a]52;c;AAAAb2Jc\td\n```\n[2Jcode\n```"]));
  expect(write([...hostile])).not.toMatch(/[^\P{Cc}\n\t]/u);
});

test("writes prose at once, and code at the end of its line", () => {
  let written = "";
  const writer = new MarkdownWriter(
    (text) => {
      written += text;
    },
    (_style, text) => text,
  );
  writer.add("Hello");
  expect(written).toBe("Hello");
  writer.add("\n```\nlet x");
  expect(written).toBe("Hello\n```\n");
  writer.end();
  expect(written).toBe("Hello\n```\nlet x");
});
