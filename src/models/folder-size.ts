import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const LOOK_EVERY_MS = 500;

/** Bytes of all files below a folder. Files that vanish meanwhile do not count. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Tells how much lies in the folder while `work` runs: the only progress that pip and npm show from outside. */
export async function withFolderSize<T>(
  folder: string,
  onBytes: (bytes: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    onBytes(await folderBytes(folder));
    isLooking = false;
  }, LOOK_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
