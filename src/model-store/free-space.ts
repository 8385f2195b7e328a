import { statfs } from "node:fs/promises";
import { Fault } from "../kernel/faults.ts";

/** Throws a Fault when the file system of `directory` has less space than `neededBytes`. */
export async function ensureFreeSpace(directory: string, neededBytes: number): Promise<void> {
  const freeBytes = await freeBytesIn(directory);
  if (freeBytes < neededBytes) throw diskFull(directory, neededBytes, freeBytes);
}

/** Returns the bytes that unprivileged processes may still write to the file system of `directory`. */
export async function freeBytesIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

export const DISK_FULL = "disk_full";

/** Fault `disk_full`. `neededBytes` undefined: unknown, but more than `freeBytes`. */
export function diskFull(
  directory: string,
  neededBytes: number | undefined,
  freeBytes: number,
  cause?: unknown,
): Fault {
  return new Fault(
    "unavailable",
    `${lackingSpace(directory, neededBytes, freeBytes)} Free some space, or set PARLANCE_MODELS_DIR to another disk.`,
    { code: DISK_FULL, cause },
  );
}

function lackingSpace(directory: string, neededBytes: number | undefined, freeBytes: number): string {
  if (neededBytes === undefined) {
    return `The disk is full: more than the ${freeBytes} free bytes are needed in ${directory}.`;
  }
  if (neededBytes > freeBytes) {
    return `The disk is full: ${neededBytes} bytes are needed in ${directory}, ${freeBytes} bytes are free.`;
  }
  // A quota, inodes, or another writer that has ended meanwhile.
  return `A file of ${neededBytes} bytes could not be written in ${directory}, although ${freeBytes} bytes are free there: a quota or another writer has used the space.`;
}

/** True for errors of a full disk or an exhausted quota. */
export function isDiskFullError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT";
}
