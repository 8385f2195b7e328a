/** Virtual environments with pinned Python packages, kept between runs. */

import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const PYTHON = process.env.PYTHON ?? "python3";
const ENVIRONMENTS = resolve(import.meta.dirname, "../../../node_modules/.cache");

export const hasPython: boolean = (() => {
  try {
    execFileSync(PYTHON, ["-c", "import venv, ensurepip"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Installs a requirement into the environment `name` and returns its folder of programs. Throws when pip fails. */
export async function installPython(name: string, requirement: string): Promise<string> {
  const environment = join(ENVIRONMENTS, name);
  const bin = join(environment, "bin");
  await mkdir(environment, { recursive: true });
  if (!existsSync(join(bin, "python"))) await run(PYTHON, ["-m", "venv", environment]);
  await run(join(bin, "python"), ["-m", "pip", "install", "--quiet", requirement], { maxBuffer: 1 << 26 });
  return bin;
}
