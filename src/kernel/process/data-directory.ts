/** The data directory holds key hashes, usage and uploads: only its owner may read it. */

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "../../observability/logger.ts";
import { Fault } from "../faults.ts";

const OTHERS = 0o077;

/** Creates the directory and its missing parents. Throws a Fault where it cannot be created; a full disk is reported later. */
export function createDataDirectory(directory: string): void {
  try {
    createWithParents(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT" || code === "EROFS") return;
    const message = `The data directory cannot be used: ${directory} cannot be created (${code}). PARLANCE_DATA_DIR or data_directory names it.`;
    throw new Fault("invalid-request", message, { cause: error });
  }
}

/** Not `mkdir` with `recursive`, which never returns for a path under /proc. */
function createWithParents(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(directory);
  if (parent !== directory) createWithParents(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
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
