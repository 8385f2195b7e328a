import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { format } from "node:util";
import { runCommand } from "../../../src/cli/run-command.ts";
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

/** The command's environment: only the default chat model and the given variables of Parlance. */
function environmentOf({ environment }: Surroundings): Record<string, string> {
  return { ...cleanEnvironment(), PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL, ...environment };
}

/** Runs the real executable until it exits. */
export async function spawnParlance(words: readonly string[], surroundings: Surroundings): Promise<Finished> {
  const child = spawn(process.execPath, [EXECUTABLE, ...words], {
    cwd: surroundings.cwd,
    env: environmentOf(surroundings),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

let last: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, which takes a tenth of a process for each, one after the other. */
export function runParlance(words: readonly string[], surroundings: Surroundings): Promise<Finished> {
  // Reads the standard input, which this process shares with the other tests.
  if (words[0] === "chat") return spawnParlance(words, surroundings);
  const finished = last.then(() => runHere(words, surroundings));
  last = finished.catch(() => {});
  return finished;
}

async function runHere(words: readonly string[], surroundings: Surroundings): Promise<Finished> {
  const output = { stdout: "", stderr: "" };
  const { env, exitCode } = process;
  const { log, error, warn } = console;
  const cwd = process.cwd();
  const writes = (["stdout", "stderr"] as const).map((name) => ({ name, write: process[name].write }));
  for (const { name } of writes) {
    process[name].write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      output[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    }) as typeof process.stdout.write;
  }
  console.log = (...values) => void process.stdout.write(`${format(...values)}\n`);
  console.error = (...values) => void process.stderr.write(`${format(...values)}\n`);
  console.warn = console.error;
  process.env = environmentOf(surroundings);
  process.exitCode = undefined;
  process.chdir(surroundings.cwd);
  try {
    return { code: await runCommand(words), ...output };
  } finally {
    process.chdir(cwd);
    process.exitCode = exitCode;
    process.env = env;
    Object.assign(console, { log, error, warn });
    for (const { name, write } of writes) process[name].write = write;
  }
}
