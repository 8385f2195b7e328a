/** Runs pip or npm with the user's own settings. */

import { spawn } from "node:child_process";

export interface CommandOptions {
  /** Where it puts its temporary files. */
  temporaryDirectory: string;
  signal: AbortSignal;
  /** Ends it when it has not ended by itself; undefined: it may take as long as it takes. */
  endAfterMs?: number;
  onOutput?: (text: string) => void;
}

export interface CommandResult {
  /** Undefined when it was ended by a signal. */
  exitCode: number | undefined;
  /** Standard output and error as they came. */
  output: string;
}

/** Parlance's own secrets are none of a package tool's business. */
const KEPT_BACK = /^(?:PARLANCE_.*|DATABASE_URL|REDIS_URL|HF_TOKEN)$/;

/** Throws ENOENT when there is no such program, the signal's reason when it aborts. */
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
    // At once: whoever waits removes the temporary files next.
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
    // An aborted child is waited for; one that could not be started never closes.
    child.on("error", (error) => {
      if (child.pid === undefined) reject(error);
    });
  });
  signal.throwIfAborted();
  return { exitCode: exitCode ?? undefined, output };
}

/** The last lines of what a tool said, on one line, for a message. URLs may hold a password: they are cut. */
export function lastWords(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const telling = lines.filter((line) => /^(?:npm )?(?:error|fatal)/i.test(line));
  const chosen = telling.length > 0 ? telling : lines.filter((line) => line !== "");
  return chosen
    .slice(-3)
    .join(" ")
    .replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1")
    .slice(-600);
}
