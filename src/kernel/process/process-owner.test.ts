import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { isOwnerGone, processOwner } from "./process-owner.ts";

const DAY_MS = 86_400_000;

test.each([
  ["an earlier process with the same PID", processOwner(), true],
  ["an ended process", `${hostname()}.${spawnSync(process.execPath, ["--version"]).pid}`, true],
  ["a running process", `${hostname()}.${process.ppid}`, false],
  ["another machine with the same name prefix", `${hostname()}.example.${process.pid}`, false],
])("detects files left by %s", async (_whose, mark, isLeft) => {
  await using folder = await temporaryDirectory();
  const name = `${mark}.aB3`;
  const path = join(folder.path, name);
  writeFileSync(path, "");
  expect(isOwnerGone(path, name, DAY_MS)).toBe(isLeft);
});
