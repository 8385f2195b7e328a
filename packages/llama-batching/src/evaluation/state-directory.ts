/** Directories for the states of sequences, in which llama.cpp writes and reads them as files. */

import { mkdtemp, readdir, rm, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In memory, where the system has it: what is evaluated are users' texts. */
const STATE_DIRECTORIES = ["/dev/shm", tmpdir()];
const STATE_NAME = /^parlance-context-(?<pid>\d+)-\w+$/;
/** Saving and restoring takes seconds. */
const ABANDONED_MS = 5 * 60_000;
/** Largest share of the free memory or disk space to use: other processes need some, too. */
export const USABLE_SHARE = 0.9;

/** Removes the states of processes that ended while they were saved: users' texts, often in memory, which nobody else frees. */
export async function removeAbandonedStates(parents: readonly string[] = STATE_DIRECTORIES): Promise<void> {
  for (const parent of parents) {
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = STATE_NAME.exec(name)?.groups?.pid;
      if (pid === undefined || isRunning(Number(pid))) continue;
      const path = join(parent, name);
      // Another container may share the directory, but not the IDs of processes.
      const changedAt = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Number.POSITIVE_INFINITY,
      );
      if (Date.now() - changedAt < ABANDONED_MS) continue;
      await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }
}

/** Whether another process with the ID runs: this one has just started. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (failure) {
    return (failure as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Creates a directory with room for `bytes` that only this user can read; undefined where no directory has that room. */
export async function createStateDirectory(
  bytes: number,
  parents: readonly string[] = STATE_DIRECTORIES,
): Promise<string | undefined> {
  for (const parent of parents) {
    const free = await statfs(parent).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    );
    if (free * USABLE_SHARE <= bytes) continue;
    // The file system may be read-only.
    const directory = await mkdtemp(join(parent, `parlance-context-${process.pid}-`)).catch(() => undefined);
    if (directory !== undefined) return directory;
  }
  return undefined;
}
