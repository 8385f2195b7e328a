import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "install-command.mjs");

const CHECKOUT = join(import.meta.dirname, "..");

/** Data directory that the command uses in a folder. */
async function dataDirectory(command: string, cwd: string): Promise<string | undefined> {
  const { PARLANCE_CONFIG: _file, PARLANCE_DATA_DIR: _data, ...env } = process.env;
  const { stdout } = await run(command, ["config", "check"], { cwd, env });
  return /stores data in (.*)/.exec(stdout)?.[1];
}

test("puts a command on the PATH that runs the checkout from any folder, and overwrites no other program", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parlance's command-"));
  try {
    const { stdout } = await run(process.execPath, [SCRIPT, folder]);
    expect(stdout).toContain("is not in PATH");
    const printed = await run(join(folder, "parlance"), ["--version"], { cwd: folder });
    expect(printed.stdout).toMatch(/^parlance \d/);
    const command = join(folder, "parlance");
    expect(await dataDirectory(command, folder)).toBe(await dataDirectory(command, CHECKOUT));
    await writeFile(join(folder, "parlance.yaml"), "builtin_models: false\n");
    expect(await dataDirectory(command, folder)).toBe(join(folder, ".parlance"));
    await run(process.execPath, [SCRIPT, folder]);
    await writeFile(join(folder, "parlance"), "#!/bin/sh\n");
    await expect(run(process.execPath, [SCRIPT, folder])).rejects.toMatchObject({
      stderr: expect.stringContaining("is another program"),
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
