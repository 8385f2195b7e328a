import { join } from "node:path";
import { invalidRequest } from "../faults.ts";
import type { Secret } from "../secret.ts";
import { readKeyFile } from "./key-file.ts";
import { Keyring } from "./keyring.ts";

export interface RequiredKeyring {
  /** Keys that the operator set; undefined: none. */
  secrets: readonly [Secret, ...Secret[]] | undefined;
  dataDirectory: string;
  databaseKind: "sqlite" | "postgresql";
  /** Path of the setting that needs the key. */
  setting: string;
  /** What the key encrypts. */
  content: string;
}

/**
 * Opens the keys of content without which a feature cannot work. Replicas share what is encrypted, so that those with
 * PostgreSQL need the operator's key. Throws a Fault without it.
 */
export function requireKeyring({ secrets, dataDirectory, databaseKind, setting, content }: RequiredKeyring): Keyring {
  if (secrets !== undefined) return new Keyring(secrets);
  if (databaseKind === "sqlite") return new Keyring([readKeyFile(join(dataDirectory, "encryption.key"))]);
  const message = `${setting} with PostgreSQL needs PARLANCE_ENCRYPTION_KEY, which encrypts ${content} for all replicas.`;
  throw invalidRequest(message, setting);
}
