import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Lock } from "../lock/lock-file.ts";
import { renderNotice } from "./notice.ts";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;

test("NOTICE is up to date: run `npm run notice`", () => {
  expect(readFileSync("NOTICE", "utf8")).toBe(renderNotice(lock));
});

test("states the license of every package", () => {
  expect(renderNotice(lock)).not.toContain("not stated");
});

test("names packages with conditions and what requires them, and leaves out those for development", () => {
  const notice = renderNotice({
    packages: {
      "": { dependencies: { decoder: "1" } },
      "node_modules/decoder": { version: "1.0.0", license: "MIT", dependencies: { parser: "1" } },
      "node_modules/parser": { version: "1.0.0", license: "LGPL-3.0-or-later" },
      "node_modules/either": { version: "1.0.0", license: "MIT OR GPL-2.0" },
      "node_modules/tester": { version: "1.0.0", license: "GPL-3.0", dev: true },
    },
  });
  expect(notice).toContain("parser (LGPL-3.0-or-later), required by decoder\n");
  expect(notice).not.toMatch(/tester|either \(/);
});
