import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { cleanEnvironment } from "./clean-environment.ts";

const EXECUTABLE = resolve(import.meta.dirname, "../../scripts/start.mjs");

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  cwd: string;
  environment?: Record<string, string>;
}

/** Runs the real command until it exits, with only the given Parlance variables in its environment. */
export async function runParlance(words: readonly string[], { cwd, environment }: Surroundings): Promise<Finished> {
  const child = spawn(process.execPath, [EXECUTABLE, ...words], {
    cwd,
    env: { ...cleanEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
