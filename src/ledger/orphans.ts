/** Journals that other processes left behind when they were killed. */

import { readdirSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const SUFFIX = ".usage.jsonl";
/** A process on another machine that shares the folder; one that lives and rested for longer makes its journal anew. */
const ABANDONED_AFTER_MILLISECONDS = 60_000;

/** The name says who writes it. */
export function journalName(writer: string): string {
  return `${hostname()}.${process.pid}.${writer}${SUFFIX}`;
}

export function findOrphans(directory: string, ownWriter: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(SUFFIX) && !name.includes(ownWriter) && !isWritten(join(directory, name), name))
    .map((name) => join(directory, name));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isWritten(path: string, name: string): boolean {
  const [pid = "", host] = name.slice(0, -SUFFIX.length).split(".").slice(0, -1).reverse();
  const isHere = name.startsWith(`${hostname()}.`) && host !== undefined;
  // Our own number with another writer's name is that of a process before us, as in containers.
  if (isHere) return Number(pid) !== process.pid && isAlive(Number(pid));
  const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - touchedAt < ABANDONED_AFTER_MILLISECONDS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
