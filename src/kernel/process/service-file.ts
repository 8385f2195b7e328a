/** Files of the running service in its data directory: a lock, and the address at which commands reach it. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { until } from "../async/retry.ts";
import { Fault } from "../faults.ts";
import { type FileLock, tryLock } from "./file-lock.ts";
import { isAlive } from "./process-owner.ts";

const FILE = "service.json";
const LOCK = "service.lock";
/** Commands hold the lock for less. */
const COMMAND_MS = 10_000;
const POLL_MS = 50;

interface RunningService {
  /** URL such as `http://127.0.0.1:8080`. */
  origin: string;
  pid: number;
  /** Machine or container of the process, which alone can check its PID. */
  host: string;
}

/**
 * Keeps a second service from counting limits and loading models beside the first. Waits for a command that has the lock.
 * Rejects with a Fault when a service has it; resolves with undefined where the directory cannot be written, which opening
 * the database reports.
 */
export async function lockDataDirectory(directory: string, waitMs = COMMAND_MS): Promise<FileLock | undefined> {
  const attempt = () => {
    const lock = tryServiceLock(directory);
    if (lock !== "taken") return { lock };
    const other = findRunningService(directory);
    if (other !== undefined) throw inUse(directory, other);
    return undefined;
  };
  const attempted = await until(attempt, { everyMs: POLL_MS, timeoutMs: waitMs });
  if (attempted === undefined) throw inUse(directory, undefined);
  return attempted.lock;
}

/** Returns the lock, "taken" while another process has it, or undefined where the directory cannot be written. */
export function tryServiceLock(directory: string): FileLock | "taken" | undefined {
  try {
    return tryLock(join(directory, LOCK)) ?? "taken";
  } catch {
    return undefined;
  }
}

function inUse(directory: string, other: RunningService | undefined): Fault {
  const who = other === undefined ? "Another service" : `The service at ${other.origin} (process ${other.pid})`;
  return new Fault(
    "conflict",
    `${who} already uses the data directory ${directory}. Stop it, or set PARLANCE_DATA_DIR to another directory; services that share keys and limits need DATABASE_URL.`,
  );
}

/** Writes the address; disposing of the result removes it. */
export function announceService(directory: string, origin: string): Disposable {
  const path = join(directory, FILE);
  try {
    writeFileSync(path, `${JSON.stringify({ origin, pid: process.pid, host: hostname() })}\n`, { mode: 0o600 });
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
  return serviceFile?.host === hostname() && isAlive(serviceFile.pid) ? serviceFile : undefined;
}

/** Whether the last service of the data directory ran on another machine or in another container. */
export function ranElsewhere(directory: string): boolean {
  const serviceFile = readServiceFile(join(directory, FILE));
  return serviceFile !== undefined && serviceFile.host !== hostname();
}

function readServiceFile(path: string): RunningService | undefined {
  try {
    // Earlier versions wrote no host.
    return { host: hostname(), ...JSON.parse(readFileSync(path, "utf8")) };
  } catch {
    return undefined;
  }
}
