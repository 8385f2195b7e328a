/** Names of files that say which process made them, so that others know what a dead one left behind. */

import { statSync } from "node:fs";
import { hostname } from "node:os";

/** What such a name begins with; a dot and what is the process's own choice, without dots, are to follow. */
export function processOwner(): string {
  return `${hostname()}.${process.pid}`;
}

/**
 * Whether the process that made the file is gone. Of one on another machine that shares the folder nobody knows: it
 * counts as gone once the file is unchanged for so long. A file of our own number was made by a process before us, as
 * in containers, so that this is to be asked of others' files only.
 */
export function isOwnerGone(path: string, name: string, unchangedMilliseconds: number): boolean {
  // A host's name may have dots, and may be the first part of another's.
  const [, pid = "", ...host] = name.split(".").reverse();
  const isHere = host.reverse().join(".") === hostname();
  if (isHere) return Number(pid) === process.pid || !isAlive(Number(pid));
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - touchedAt >= unchangedMilliseconds;
}

/** Whether there is a process with this number on this machine, whoever it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
