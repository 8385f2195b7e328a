/** Keeps temporary files of tests in memory where there is room: syncing databases to a disk takes a fifth of their CPU time. */

import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const NAME = /^parlance-tests-(?<pid>\d+)-/;
const MIN_FREE_BYTES = 4 * 1024 ** 3;

export default async function useMemory(): Promise<undefined | (() => Promise<void>)> {
  if (process.env.TMPDIR !== undefined || !(await isUsable())) return undefined;
  await removeAbandoned();
  const folder = await mkdtemp(join(MEMORY, `parlance-tests-${process.pid}-`));
  // PostgreSQL runs as another user.
  await chmod(folder, 0o1777);
  process.env.TMPDIR = folder;
  // PostgreSQL ends a moment after the process that started it, and still writes there.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

/** Some tests execute what they have written. */
async function isUsable(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY);
    const mount = (await readFile("/proc/mounts", "utf8")).split("\n").find((line) => line.includes(` ${MEMORY} `));
    return bavail * bsize >= MIN_FREE_BYTES && mount?.includes("noexec") === false;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const pid = NAME.exec(name)?.groups?.pid;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await rm(join(MEMORY, name), { recursive: true, force: true });
  }
}
