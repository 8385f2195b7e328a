import type { Feature, ServiceParts } from "../feature.ts";
import { PERSONAL_DATA } from "../personal-data.ts";
import { openContentKeys } from "../responses/feature.ts";
import { SealedRows } from "../responses/sealed-rows.ts";
import { personalRetention } from "./personal-retention.ts";
import { Privacy } from "./privacy.ts";
import { privacy } from "./routes.ts";

type PrivacyParts = Pick<ServiceParts, "accounts" | "config" | "database" | "logger"> & {
  files: Pick<ServiceParts["files"], "files">;
  usage: Pick<ServiceParts["usage"], "recorder" | "history">;
  recorded?: ServiceParts["recorded"];
  chatKeys?: ServiceParts["chatKeys"];
};

/** Export, erasure and retention of what is stored of users and end users. */
export function openPrivacy(parts: ServiceParts): Feature {
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
  return { admin: [privacy(new Privacy({ transactions, tables: PERSONAL_DATA, context, logger, flush }))] };
}
