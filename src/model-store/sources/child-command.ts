/** Runs pip or npm with the user's settings. */

import { Child } from "../../kernel/process/child.ts";
import { afterRunnable } from "../../kernel/process/runnable-timeout.ts";

export interface CommandOptions {
  /** Folder for its temporary files. */
  temporaryDirectory: string;
  signal: AbortSignal;
  /** Time limit, without the time in which other programs had the cores; undefined: none. */
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
  signal.throwIfAborted();
  const child = new Child({
    program,
    args: parameters,
    stdio: ["ignore", "pipe", "pipe"],
    environment: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !KEPT_BACK.test(name))),
      TMPDIR: temporaryDirectory,
      TEMP: temporaryDirectory,
      TMP: temporaryDirectory,
    },
  });
  // At once, because the caller removes the temporary files next.
  const kill = () => child.kill();
  signal.addEventListener("abort", kill, { once: true });
  using _timeout = endAfterMs === undefined ? undefined : afterRunnable(child.pid, endAfterMs, kill);
  let output = "";
  const hear = (text: string) => {
    output += text;
    onOutput?.(text);
  };
  for (const descriptor of [1, 2]) child.output(descriptor).setEncoding("utf8").on("data", hear);
  const { code, error } = await child.ended;
  signal.removeEventListener("abort", kill);
  if (error !== undefined) throw error;
  signal.throwIfAborted();
  return { exitCode: code ?? undefined, output };
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
