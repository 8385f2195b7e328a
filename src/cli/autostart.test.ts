import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runParlance } from "../../test/support/service/run-parlance.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";

let folder: TemporaryDirectory;
beforeEach(async () => {
  folder = await temporaryDirectory();
  await mkdir(join(folder.path, "bin"));
});
afterEach(() => folder[Symbol.asyncDispose]());

const unitFile = () => join(folder.path, "systemd/user/parlance.service");

/** Runs the command with a `systemctl` that writes down what it is asked. */
async function autostart(word: string, systemctl = 'echo "$@" >>"$CALLS"', cwd = folder.path) {
  const program = join(folder.path, "bin/systemctl");
  await writeFile(program, `#!/bin/sh\n${systemctl}\n`);
  await chmod(program, 0o755);
  const environment = {
    PATH: `${join(folder.path, "bin")}:/usr/bin:/bin`,
    XDG_CONFIG_HOME: folder.path,
    CALLS: join(folder.path, "calls"),
    PARLANCE_LAUNCHER: join(cwd === folder.path ? "/home/ada/.local/bin" : cwd, "parlance"),
  };
  return runParlance(["autostart", word], { cwd, environment });
}

test("a unit starts the launcher, which stays when a version is replaced, in the folder of the service", async () => {
  expect(await autostart("enable")).toMatchObject({ code: 0, stderr: "" });
  const unit = await readFile(unitFile(), "utf8");
  expect(unit).toContain("\nExecStart=/home/ada/.local/bin/parlance serve\n");
  expect(unit).toContain(`\nWorkingDirectory=${folder.path}\n`);
  const calls = (await readFile(join(folder.path, "calls"), "utf8")).trim().split("\n");
  expect(calls.slice(1)).toEqual([
    "--user daemon-reload",
    "--user enable parlance.service",
    "--user restart parlance.service",
  ]);
});

test("a unit names folders whose characters mean something to systemd", async () => {
  const cwd = join(folder.path, `50% "a\\b" $HOME`);
  await mkdir(cwd);
  expect(await autostart("enable", undefined, cwd)).toMatchObject({ code: 0, stderr: "" });
  const unit = await readFile(unitFile(), "utf8");
  expect(unit).toContain(`\nExecStart="${folder.path}/50%% \\"a\\\\b\\" $$HOME/parlance" serve\n`);
  expect(unit).toContain(`\nWorkingDirectory=${folder.path}/50%% "a\\b" $HOME\n`);
});

test("disable stops the service and removes the unit", async () => {
  await autostart("enable");
  expect(await autostart("disable")).toMatchObject({ code: 0, stderr: "" });
  await expect(readFile(unitFile())).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readFile(join(folder.path, "calls"), "utf8")).toMatch(/--user disable --now parlance.service\n$/);
});

test("says why where systemd refuses, and leaves no unit behind", async () => {
  const { code, stderr } = await autostart("enable", "echo 'Failed to connect to bus' >&2; exit 1");
  expect(stderr).toBe(
    "error: systemd does not start the service: Failed to connect to bus. Start it with `parlance serve`.\n",
  );
  expect(code).toBe(1);
  await expect(readFile(unitFile())).rejects.toMatchObject({ code: "ENOENT" });
});
