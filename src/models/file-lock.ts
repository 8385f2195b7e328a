import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";

const POLL_MS = 200;

/** Held by this process until `release()`, or until the process dies. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the lock at `path`, or gives undefined when another holds it.
 * It is SQLite's lock on an empty database: the operating system lets go of it when its holder dies, so none is ever stale.
 */
export function tryLock(path: string): FileLock | undefined {
  const database = new Database(path, { timeout: 0 });
  try {
    // Else a process that dies would leave a journal beside it.
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
  return { release: () => void database.close() };
}

/** Waits for the lock; `onWait` is called before each pause. */
export async function lock(path: string, signal: AbortSignal, onWait: () => void): Promise<FileLock> {
  for (;;) {
    signal.throwIfAborted();
    const held = tryLock(path);
    if (held !== undefined) return held;
    onWait();
    await delay(POLL_MS, undefined, { signal });
  }
}
