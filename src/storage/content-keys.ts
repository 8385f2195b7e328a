import { join } from "node:path";
import type { Keyring } from "../kernel/encryption/keyring.ts";
import { openKeyring } from "../kernel/encryption/open-keyring.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import type { Database } from "./database.ts";

export interface ContentKeyParts {
  config: Pick<Settings, "environment" | "dataDirectory">;
  database: Pick<Database, "kind">;
  logger: Logger;
}

/**
 * Opens the keys of stored content: those of the environment, or with SQLite that of a file. Undefined, with the reason
 * in the log, where there is none; `content` names there what is not stored then.
 */
export function openContentKeys({ config, database, logger }: ContentKeyParts, content?: string): Keyring | undefined {
  const { environment, dataDirectory } = config;
  const file = database.kind === "sqlite" ? join(dataDirectory, "encryption.key") : undefined;
  return openKeyring({ secrets: environment.PARLANCE_ENCRYPTION_KEY, file, logger, ...(content && { content }) });
}
