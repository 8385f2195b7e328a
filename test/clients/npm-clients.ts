/** Installs command-line clients from npm when a test runs them; the repository does not depend on them. */

import { execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/npm-clients");

/** Installs one version of a package and returns the path of its command. Throws when npm fails. */
export async function installNpmClient(name: string, version: string, command: string): Promise<string> {
  const directory = join(CACHE, `${name.replaceAll(/[@/]/g, "_")}-${version}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "package.json"), '{ "private": true }\n');
  // Its own install scripts place the binary of this platform.
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts=false"];
  await run("npm", ["install", ...options, `${name}@${version}`], { cwd: directory, maxBuffer: 1 << 26 });
  return join(directory, "node_modules", ".bin", command);
}

export interface CommandResult {
  code: number | null;
  output: string;
}

/** Runs a command without input in a directory, with nothing of this process's environment except PATH. */
export async function runCommand(
  file: string,
  parameters: readonly string[],
  { cwd, environment }: { cwd: string; environment: Readonly<Record<string, string>> },
): Promise<CommandResult> {
  const child = spawn(file, parameters, {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((done, failed) => {
    child.once("error", failed).once("close", done);
  });
  return { code, output };
}
