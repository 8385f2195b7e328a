import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { until } from "../async/retry.ts";

const POLL_MS = 200;

/** A lock that this process holds until `release()` or its end. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the lock at `path`; returns undefined when another process holds it.
 * Uses SQLite's lock on an empty database, which the operating system releases when its holder dies: no stale locks.
 */
export function tryLock(path: string): FileLock | undefined {
  createPrivately(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // Otherwise a killed process would leave a journal file.
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
  return { release: () => void database.close() };
}

/** Creates the file for its owner only; SQLite would create it for everyone to read. */
function createPrivately(path: string): void {
  try {
    // Not opened where it exists: closing it would release the POSIX locks of this process (fcntl(2)).
    if (!existsSync(path)) closeSync(openSync(path, "wx", 0o600));
    if (process.platform !== "win32") chmodSync(path, 0o600);
  } catch {
    // Opening the database reports what is wrong; another user's file keeps its mode.
  }
}

/** Waits for the lock; `onWait` is called before each pause. */
export async function lock(path: string, signal: AbortSignal, onWait: () => void): Promise<FileLock> {
  const attempt = () => {
    const fileLock = tryLock(path);
    if (fileLock === undefined) onWait();
    return fileLock;
  };
  return (await until(attempt, { everyMs: POLL_MS, signal })) as FileLock;
}
