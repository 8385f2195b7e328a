import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const PACKAGE = new URL("..", import.meta.url);

test("the example in the README prints what the README says", () => {
  const readme = readFileSync(new URL("README.md", PACKAGE), "utf8");
  const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(readme)?.[1] ?? "";
  const printed = execFileSync(process.execPath, ["--input-type=module-typescript", "--eval", block("ts")], {
    cwd: PACKAGE,
    encoding: "utf8",
  });
  expect(printed).toBe(block("text"));
});
