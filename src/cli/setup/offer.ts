/** Offers a setup at the first `npm start` in a terminal. */

import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { loadConfig } from "../../config/load-config.ts";
import { configSources } from "../config-sources.ts";

/** Somebody who has left the terminal gets a service all the same. */
const WAIT_MS = 30_000;

/** Resolves with true where the person wants it. */
export async function wantsSetup(): Promise<boolean> {
  const isStart = process.env.npm_lifecycle_event === "start";
  if (!isStart || !process.stdin.isTTY || !process.stdout.isTTY) return false;
  const { dataDirectory, file } = await loadConfig(configSources());
  if (file !== undefined || existsSync(dataDirectory)) return false;
  using lines = createInterface({ input: process.stdin, output: process.stdout });
  const question =
    "Set it up by three questions (models, a person, a first answer)? Without an answer it starts. [y/N] ";
  const answer = await lines.question(question, { signal: AbortSignal.timeout(WAIT_MS) }).catch(() => "");
  return /^y(es)?$/i.test(answer.trim());
}
