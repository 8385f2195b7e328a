/** How long files with states are kept. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Time without use after which a file is removed. */
const UNUSED_MS = 24 * 60 * 60_000;
/** A draft is written in seconds. */
const ABANDONED_DRAFT_MS = 5 * 60_000;
const DRAFT = /\.draft$/;

/**
 * Removes what was not used for a day, then what is too much: the files beyond `maxBytes` that were used least recently.
 * Models remove nothing while they are not loaded: call it without a limit from time to time.
 */
export async function sweepStates(directory: string, maxBytes = Number.POSITIVE_INFINITY): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: Date.now() }));
      return {
        path,
        size,
        // A clock that was set back must not keep a file for longer.
        unusedMs: Math.abs(Date.now() - mtimeMs),
        limitMs: DRAFT.test(name) ? ABANDONED_DRAFT_MS : UNUSED_MS,
      };
    }),
  );
  let bytes = 0;
  for (const { path, size, unusedMs, limitMs } of files.sort((a, b) => a.unusedMs - b.unusedMs)) {
    bytes += size;
    if (unusedMs > limitMs || bytes > maxBytes) await rm(path, { force: true }).catch(() => {});
  }
}
