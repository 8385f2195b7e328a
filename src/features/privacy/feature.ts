import type { Feature, ServiceParts } from "../feature.ts";
import { PERSONAL_DATA } from "../personal-data.ts";
import { Privacy } from "./privacy.ts";
import { privacy } from "./routes.ts";

type PrivacyParts = Pick<ServiceParts, "accounts" | "database" | "logger"> & {
  files: Pick<ServiceParts["files"], "files">;
  usage: Pick<ServiceParts["usage"], "recorder" | "history">;
};

/** Export and erasure of what is stored of users and end users. */
export function privacyFeature({ accounts, database, logger, files: { files }, usage }: PrivacyParts): Feature {
  const flush = async () => {
    await Promise.all([usage.recorder.flush(), usage.history.flush()]);
  };
  const { transactions } = accounts;
  const context = { database, files };
  return { admin: [privacy(new Privacy({ transactions, tables: PERSONAL_DATA, context, logger, flush }))] };
}
