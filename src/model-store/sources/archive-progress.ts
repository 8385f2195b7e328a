import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Poll } from "../../kernel/jobs/poll.ts";

const LOOK_EVERY_MS = 500;

/** pip and npm download one archive and move it: the largest file is the archive so far. */
async function largestFileBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  // The file was removed meanwhile.
  const sizes = files.map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => undefined));
  return (await Promise.all(sizes)).reduce((most, found) => Math.max(most, found?.size ?? 0), 0);
}

/** Reports the bytes in the folder while `work` runs, the only progress visible from outside. */
export async function withArchiveProgress<T>(
  folder: string,
  onBytes: (bytes: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const look = async () => {
    const bytes = await largestFileBytes(folder);
    if (!isOver) onBytes(bytes);
  };
  const poll = new Poll(look, { everyMs: LOOK_EVERY_MS });
  try {
    return await work();
  } finally {
    isOver = true;
    poll.stop();
  }
}
