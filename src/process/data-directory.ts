/** The data directory holds key hashes, usage and uploads: only its owner may read it. */

import { mkdirSync, statSync } from "node:fs";
import type { Logger } from "../observability/logger.ts";

const OTHERS = 0o077;

/** Creates the directory and its missing parents. Leaves failures to the parts that use it, whose errors say for what. */
export function createDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch {}
}

/** Warns once about a directory that others may read: one of an earlier version, or a mounted volume. */
export function warnIfAccessibleToOthers(directory: string, logger: Logger): void {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS) === 0) return;
  const permissions = (mode & 0o777).toString(8);
  const message = `Other users of this machine can access the data directory (mode ${permissions}). To make it private, run: chmod 700 ${directory}`;
  logger.warn({ directory }, message);
}
