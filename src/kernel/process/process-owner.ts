/** File names that identify the process that created them, to detect the files of dead processes. */

import { statSync } from "node:fs";
import { hostname } from "node:os";

/** Prefix of such a name. A dot and a suffix without dots follow. */
export function processOwner(): string {
  return `${hostname()}.${process.pid}`;
}

/**
 * True if the process that created the file has ended. A process on another machine that shares the folder counts as
 * ended once the file is unchanged for `unchangedMs`. A file with this process's PID counts as an earlier
 * process's, as happens in containers, so do not call this for files that this process created.
 */
export function isOwnerGone(path: string, name: string, unchangedMs: number): boolean {
  // A host name may contain dots, and may be a prefix of another one.
  const [, pid = "", ...host] = name.split(".").reverse();
  const isHere = host.reverse().join(".") === hostname();
  if (isHere) return Number(pid) === process.pid || !isAlive(Number(pid));
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - touchedAt >= unchangedMs;
}

/** True if a process with this PID exists on this machine, whatever its user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
