/** The data directory holds key hashes, usage and uploads: only its owner may read it. */

import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../faults.ts";
import type { Logger } from "../logger.ts";

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

/** Files that only a data directory has. */
const OWN_FILES: ReadonlySet<string> = new Set(["parlance.sqlite", "service.lock"]);

/**
 * Removes other users' access to an existing directory: an earlier version or the operator may have created it. Warns
 * where that is impossible, and about a directory that contains only other files, such as /srv.
 */
export function makePrivate(directory: string, logger: Logger): void {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS) === 0) return;
  try {
    const names = readdirSync(directory);
    if (names.length === 0 || names.some((name) => OWN_FILES.has(name))) {
      chmodSync(directory, mode & 0o700);
      logger.info({ directory }, "removed other users' access to the data directory");
      return;
    }
  } catch {
    // A mounted volume of another owner, or a file system without modes.
  }
  const permissions = (mode & 0o777).toString(8);
  const message = `Other users of this machine can access the data directory (mode ${permissions}). To make it private, run: chmod 700 ${directory}`;
  logger.warn({ directory }, message);
}
