import type { Logger } from "../logger.ts";
import type { Secret } from "../secret.ts";
import { readKeyFile } from "./key-file.ts";
import { Keyring } from "./keyring.ts";

export interface KeyringOptions {
  /** Keys that the operator set; undefined: none. */
  secrets: readonly [Secret, ...Secret[]] | undefined;
  /** Absolute path of the key file to use without `secrets`; undefined: replicas share the database, but not a file. */
  file: string | undefined;
  logger: Logger;
  /** What is not stored without a key, for the log. */
  content?: string;
}

/** Opens the keys of stored content; returns undefined, and logs why, where there is no key. */
export function openKeyring({ secrets, file, logger, content = "responses" }: KeyringOptions): Keyring | undefined {
  if (secrets !== undefined) return new Keyring(secrets);
  if (file === undefined) {
    logger.info(`${content} are not stored; set PARLANCE_ENCRYPTION_KEY to store them in PostgreSQL`);
    return undefined;
  }
  try {
    return new Keyring([readKeyFile(file)]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ file, reason }, `${content} are not stored, because the key file cannot be used`);
    return undefined;
  }
}
