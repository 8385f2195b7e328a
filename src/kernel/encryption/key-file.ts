import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Secret } from "../secret.ts";

const OTHERS = 0o077;

/**
 * Reads the key of a file that only its owner may read; creates it with a random key when missing. Throws the file
 * system's errors.
 */
export function readKeyFile(path: string): Secret {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) createKeyFile(path);
  if (process.platform !== "win32" && (statSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o600);
  const key = readFileSync(path, "utf8").trim();
  if (key.length < 32) throw new Error(`${path} has no key of at least 32 characters`);
  return new Secret(key);
}

/** Links a complete file into place: another process that starts at the same time never reads half a key. */
function createKeyFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
