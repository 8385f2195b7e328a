import { expect, test } from "vitest";
import { parseDelimited, toDelimited } from "./delimited.ts";

test.each<[string, string[][]]>([
  [
    "a,b\n1,2\n",
    [
      ["a", "b"],
      ["1", "2"],
    ],
  ],
  [
    "a\tb\r\n1\t2",
    [
      ["a", "b"],
      ["1", "2"],
    ],
  ],
  [
    'name,said\nAda,"one, ""two""\nthree"',
    [
      ["name", "said"],
      ["Ada", 'one, "two"\nthree'],
    ],
  ],
  [
    "a,\n,b",
    [
      ["a", ""],
      ["", "b"],
    ],
  ],
  ["a,", [["a", ""]]],
  ["\n\n", []],
  ["", []],
])("reads %j", (text, rows) => {
  expect(parseDelimited(text)).toEqual(rows);
});

test("reads what it writes", () => {
  const rows = [
    ["a", 'b "c"'],
    ["1,5", "two\nlines"],
  ];
  expect(parseDelimited(toDelimited(rows))).toEqual(rows);
});
