import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Limit of the path of a Unix domain socket, without the final NUL, on the system with the smallest (macOS). */
const MAX_PATH_BYTES = 103;

/** Path of the socket between this process and its workers: in the data directory, unless that is too long. */
export function workerSocket(dataDirectory: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\parlance-${process.pid}`;
  const name = `workers-${process.pid}.sock`;
  const path = join(dataDirectory, name);
  const isShort = Buffer.byteLength(path) <= MAX_PATH_BYTES;
  const usable = isShort ? path : join(mkdtempSync(join(tmpdir(), "parlance-")), name);
  // Of a killed process with the same ID.
  rmSync(usable, { force: true });
  return usable;
}
