/** Builds command-line clients from crates.io when a test runs them; the repository does not depend on them. */

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/cargo-clients");

/** Pinned versions, by crate. */
export const CARGO_CLIENT_VERSIONS: ReadonlyMap<string, string> = new Map([["aichat", "0.30.0"]]);

/** Builds the pinned version of a crate and returns the path of its command of the same name. Throws when cargo fails. */
export async function installCargoClient(name: string): Promise<string> {
  const version = CARGO_CLIENT_VERSIONS.get(name) ?? "";
  const directory = join(CACHE, `${name}-${version}`);
  await mkdir(directory, { recursive: true });
  // The client is driven once: an optimized build takes longer than it saves.
  const options = ["--locked", "--debug", "--root", directory];
  await run("cargo", ["install", name, "--version", version, ...options], { maxBuffer: 1 << 26 });
  return join(directory, "bin", name);
}
