import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellQuote, toPython } from "./code-text.ts";

test("quotes any text for a shell", () => {
  const text = `it's "quoted" $HOME \`id\` \\ !\nsecond line`;
  expect(execFileSync("sh", ["-c", `printf %s ${shellQuote(text)}`], { encoding: "utf8" })).toBe(text);
});

test("writes JSON values as Python literals", () => {
  expect(toPython({ a: true, b: null, c: [1, "é\n"], d: {}, e: [] })).toBe(
    '{"a": True, "b": None, "c": [\n        1,\n        "é\\n",\n    ], "d": {}, "e": []}',
  );
});
