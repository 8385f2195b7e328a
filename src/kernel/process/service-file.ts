/** Files of the running service in its data directory: a lock, and the address at which commands reach it. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../faults.ts";
import { type FileLock, tryLock } from "./file-lock.ts";
import { isAlive } from "./process-owner.ts";

const FILE = "service.json";
const LOCK = "service.lock";

interface RunningService {
  /** URL such as `http://127.0.0.1:8080`. */
  origin: string;
  pid: number;
}

/**
 * Keeps a second service from counting limits and loading models beside the first. Throws a Fault when another process
 * has the lock; undefined where the directory cannot be written, which opening the database reports.
 */
export function lockDataDirectory(directory: string): FileLock | undefined {
  let fileLock: FileLock | undefined;
  try {
    fileLock = tryLock(join(directory, LOCK));
  } catch {
    return undefined;
  }
  if (fileLock !== undefined) return fileLock;
  const other = findRunningService(directory);
  const who = other === undefined ? "Another service" : `The service at ${other.origin} (process ${other.pid})`;
  throw new Fault(
    "conflict",
    `${who} already uses the data directory ${directory}. Stop it, or set PARLANCE_DATA_DIR to another directory; services that share keys and limits need DATABASE_URL.`,
  );
}

/** Writes the address; disposing of the result removes it. */
export function announceService(directory: string, origin: string): Disposable {
  const path = join(directory, FILE);
  try {
    writeFileSync(path, `${JSON.stringify({ origin, pid: process.pid })}\n`, { mode: 0o600 });
  } catch {
    // A full or read-only disk: commands then need --url.
  }
  return {
    [Symbol.dispose]: () => {
      // With a shared database, another service may have replaced it.
      if (readServiceFile(path)?.pid === process.pid) rmSync(path, { force: true });
    },
  };
}

/** Returns the service that runs on this machine with the data directory. */
export function findRunningService(directory: string): RunningService | undefined {
  const serviceFile = readServiceFile(join(directory, FILE));
  return serviceFile !== undefined && isAlive(serviceFile.pid) ? serviceFile : undefined;
}

function readServiceFile(path: string): RunningService | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
