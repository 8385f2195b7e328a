/** Journals that other processes left behind when they were killed. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isOwnerGone, processOwner } from "../process/process-owner.ts";

const SUFFIX = ".usage.jsonl";
/** A process on another machine that shares the folder; one that lives and rested for longer makes its journal anew. */
const ABANDONED_AFTER_MILLISECONDS = 60_000;

/** The name says who writes it. */
export function journalName(writer: string): string {
  return `${processOwner()}.${writer}${SUFFIX}`;
}

export function findOrphanedJournals(directory: string, ownWriter: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(SUFFIX) && !name.includes(ownWriter))
    .map((name) => ({ path: join(directory, name), mark: name.slice(0, -SUFFIX.length) }))
    .filter(({ path, mark }) => isOwnerGone(path, mark, ABANDONED_AFTER_MILLISECONDS))
    .map(({ path }) => path);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
