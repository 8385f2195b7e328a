/** `npm test` runs suites of native models once for each state of what they import. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";
import { stateOf } from "../support/unchanged/state-of.ts";

const FILES = {
  "package-lock.json": "{}",
  "src/a.test.ts": 'import { b } from "./b.ts";\nimport "@parlance-inference/audio/decode";\n',
  "src/b.ts":
    'new Worker(new URL("./child.ts", import.meta.url));\njoin(import.meta.dirname, "../assets/words.txt");\n',
  "src/child.ts": "one();\n",
  "src/other.ts": "one();\n",
  "assets/words.txt": "one",
  "packages/audio/src/decode.ts": 'import "./wave.ts";\n',
  "packages/audio/src/wave.ts": "one();\n",
  "packages/audio/src/wave.test.ts": "one();\n",
};

test.each([
  ["src/b.ts", true],
  ["src/child.ts", true],
  ["assets/words.txt", true],
  ["packages/audio/src/wave.ts", true],
  ["package-lock.json", true],
  ["src/other.ts", false],
  ["packages/audio/src/wave.test.ts", false],
])("whether a change of %s changes the state of a test that imports it: %s", async (changed, expected) => {
  await using folder = await temporaryDirectory();
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  };
  for (const [name, text] of Object.entries(FILES)) await write(name, text);
  const state = () => stateOf(join(folder.path, "src/a.test.ts"), folder.path);
  const before = state();
  expect(state()).toBe(before);
  await write(changed, "two();\n");
  expect(state() !== before).toBe(expected);
});
