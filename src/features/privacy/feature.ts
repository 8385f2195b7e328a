import { setTimeout as pause } from "node:timers/promises";
import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { AllPersonalData } from "../../storage/personal-data.ts";
import type { Accounts } from "../accounts/index.ts";
import type { FileStorage } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import { SealedRows } from "../responses/index.ts";
import type { ChatKeys } from "../saved-chats/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import { personalRetention } from "./personal-retention.ts";
import { Privacy } from "./privacy.ts";
import { privacy } from "./routes.ts";

/**
 * A request whose key was revoked ends within a second at every replica, and its usage is in the database within another
 * one; the rest is for busy replicas.
 */
const WRITTEN_AFTER_MS = 5_000;

interface PrivacyParts {
  accounts: Accounts;
  config: Settings;
  database: Database;
  logger: Logger;
  /** What every table stores of persons. */
  personalData: AllPersonalData;
  files: Pick<FileStorage, "files">;
  usage: Pick<UsageStorage, "recorder" | "history">;
  recorded?: RecordedContents | undefined;
  chatKeys?: ChatKeys | undefined;
}

/** Export, erasure and retention of what is stored of users and end users. */
export function openPrivacy(parts: PrivacyParts & { lifetime: AsyncDisposableStack }): Feature {
  const { config, database, logger, lifetime } = parts;
  lifetime.use(personalRetention({ database, logger, settings: config.retention }));
  return privacyFeature(parts);
}

/** Export and erasure of what is stored of users and end users. */
export function privacyFeature({
  accounts,
  config,
  database,
  logger,
  personalData,
  files: { files },
  ...parts
}: PrivacyParts): Feature {
  const { usage, recorded, chatKeys } = parts;
  const flush = async () => {
    await Promise.all([usage.recorder.flush(), usage.history.flush(), recorded?.writer.flush()]);
  };
  const { transactions } = accounts;
  const keyring = config.responses.store ? openContentKeys({ config, database, logger }) : undefined;
  const content = keyring && new SealedRows(keyring, logger);
  const context = { database, files, content, recorded, chats: chatKeys?.sealed };
  const untilWritten = () => pause(WRITTEN_AFTER_MS);
  const options = { transactions, tables: personalData, context, logger, flush, untilWritten };
  return { admin: [privacy(new Privacy(options))] };
}
