/** Builds what a packed tarball contains built and a source checkout does not, such as the console. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Logger } from "../logger.ts";

/** The bundler uses every core; at this priority, requests do not wait for it. */
const LOWEST_PRIORITY = ["-n", "19"];

interface Build {
  /** File in `scripts`. */
  script: string;
  args?: readonly string[];
  /** For the log: "the console". */
  subject: string;
}

/** Starts a build, whose script finds out whether it is needed. Never throws: the API does not need what is built. */
export function buildInBackground(logger: Logger, { script, args: words = [], subject }: Build): void {
  const path = fileURLToPath(new URL(`../../../scripts/${script}`, import.meta.url));
  if (!existsSync(path)) return;
  const command = [process.execPath, path, ...words];
  const [program = "", ...args] = process.platform === "win32" ? command : ["nice", ...LOWEST_PRIORITY, ...command];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  child.once("error", (error) => logger.warn({ error: error.message }, `${subject} could not be built`));
  // Without file descriptors, it has no streams either.
  if (child.pid === undefined) return;
  const errors = text(child.stderr);
  child.once("close", async (code) => {
    if (code) logger.warn({ code, output: (await errors).slice(-2000) }, `${subject} could not be built`);
  });
  child.unref();
}
