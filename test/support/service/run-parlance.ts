import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { DEFAULT_CHAT_MODEL } from "../models/default-model.ts";
import { cleanEnvironment } from "./clean-environment.ts";
import { EXECUTABLE } from "./executable.ts";

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  cwd: string;
  environment?: Record<string, string>;
}

/** Runs the real command until it exits, with only the default chat model and the given variables of Parlance. */
export async function runParlance(words: readonly string[], { cwd, environment }: Surroundings): Promise<Finished> {
  const child = spawn(process.execPath, [EXECUTABLE, ...words], {
    cwd,
    env: { ...cleanEnvironment(), PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
