/** Runs this command with the Node.js that npm installed with Parlance, for machines whose own Node.js is too old. */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR2"] as const;

/** Path of the executable; undefined if no package exists for the platform. */
export function findBundledNode(platform: string = process.platform, arch: string = process.arch): string | undefined {
  const system = platform === "win32" ? "win" : platform;
  // The package for Apple silicon does not follow the naming scheme of the others.
  const name = `${platform === "darwin" && arch === "arm64" ? "node-bin" : "node"}-${system}-${arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), "bin", platform === "win32" ? "node.exe" : "node");
  } catch {
    return undefined;
  }
}

/** Resolves with the exit code that a shell would report. */
export function runWithNode(node: string, script: string, words: readonly string[]): Promise<number> {
  const child = spawn(node, [script, ...words], { stdio: "inherit" });
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  // The terminal sends Ctrl-C to both processes; this one waits for the other to finish.
  process.on("SIGINT", () => {});
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}
