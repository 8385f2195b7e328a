/** Builds the console of a source checkout in the background; a packed tarball contains it built. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Logger } from "../../observability/logger.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/build-console.mjs", import.meta.url));
/** The bundler uses every core; at this priority, requests do not wait for it. */
const LOWEST_PRIORITY = ["-n", "19"];

/** Starts a build unless the existing one is newer than its sources. Never throws: the API does not need the console. */
export function buildConsoleInBackground(logger: Logger): void {
  if (!existsSync(SCRIPT)) return;
  const command = [process.execPath, SCRIPT];
  const [program = "", ...args] = process.platform === "win32" ? command : ["nice", ...LOWEST_PRIORITY, ...command];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const errors = text(child.stderr);
  child.once("error", (error) => logger.warn({ error: error.message }, "the console could not be built"));
  child.once("close", async (code) => {
    if (code) logger.warn({ code, output: (await errors).slice(-2000) }, "the console could not be built");
  });
  child.unref();
}
