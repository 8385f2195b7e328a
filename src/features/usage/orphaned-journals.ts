/** Finds journals that killed processes left behind. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { isOwnerGone, processOwner } from "../../kernel/process/process-owner.ts";

/** Versions before 0.2, which end with `.usage.jsonl`, would misread the columns of these lines. */
const SUFFIX = ".usage2.jsonl";
const SUFFIXES = /\.usage2?\.jsonl$/;
/** For processes on other machines that share the folder; a live one that was idle for longer recreates its journal. */
const ABANDONED_AFTER_MS = MINUTE_MS;

/** The file name contains the process that writes it. */
export function journalName(writer: string): string {
  return `${processOwner()}.${writer}${SUFFIX}`;
}

export function findOrphanedJournals(directory: string, ownWriter: string): string[] {
  return namesIn(directory)
    .filter((name) => SUFFIXES.test(name) && !name.includes(ownWriter))
    .map((name) => ({ path: join(directory, name), mark: name.replace(SUFFIXES, "") }))
    .filter(({ path, mark }) => isOwnerGone(path, mark, ABANDONED_AFTER_MS))
    .map(({ path }) => path);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The folder does not exist yet, or cannot be read: opening this process's journal reports that.
    return [];
  }
}
