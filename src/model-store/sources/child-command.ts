/** Runs pip or npm with the user's settings. */

import { spawn } from "node:child_process";

export interface CommandOptions {
  /** Folder for its temporary files. */
  temporaryDirectory: string;
  signal: AbortSignal;
  /** Time limit; undefined: none. */
  endAfterMs?: number;
  onOutput?: (text: string) => void;
}

export interface CommandResult {
  /** Undefined when a signal ended it. */
  exitCode: number | undefined;
  /** Standard output and error in order. */
  output: string;
}

/** A package tool must not see Parlance's secrets. */
const KEPT_BACK = /^(?:PARLANCE_.*|DATABASE_URL|DATABASE_READ_URL|REDIS_URL|HF_TOKEN)$/;

/** Throws ENOENT for a missing program, and the signal's reason on abort. */
export async function runCommand(
  program: string,
  parameters: readonly string[],
  { temporaryDirectory, signal, endAfterMs, onOutput }: CommandOptions,
): Promise<CommandResult> {
  const child = spawn(program, parameters, {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !KEPT_BACK.test(name))),
      TMPDIR: temporaryDirectory,
      TEMP: temporaryDirectory,
      TMP: temporaryDirectory,
    },
    signal,
    // SIGKILL, because the caller removes the temporary files next.
    killSignal: "SIGKILL",
    ...(endAfterMs !== undefined && { timeout: endAfterMs }),
  });
  let output = "";
  const hear = (text: string) => {
    output += text;
    onOutput?.(text);
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("close", resolve);
    // Wait for the end of an aborted child; one that could not be started never closes.
    child.on("error", (error) => {
      if (child.pid === undefined) reject(error);
    });
  });
  signal.throwIfAborted();
  return { exitCode: exitCode ?? undefined, output };
}

/** Returns the last error lines of a tool as one line for a message, without passwords in URLs. */
export function lastErrors(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const telling = lines.filter((line) => /^(?:npm )?(?:error|fatal)/i.test(line));
  const chosen = telling.length > 0 ? telling : lines.filter((line) => line !== "");
  return chosen
    .slice(-3)
    .join(" ")
    .replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1")
    .slice(-600);
}
