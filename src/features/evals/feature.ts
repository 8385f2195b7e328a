import type { Feature } from "../../http/feature.ts";
import { InternalRequests } from "../../http/internal-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import { StoredBytes } from "../../storage/stored-bytes.ts";
import type { Accounts } from "../accounts/index.ts";
import type { FileStorage } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import { SealedRows } from "../responses/index.ts";
import { evalEncryption } from "./eval-encryption.ts";
import { EvalRuns } from "./eval-runs.ts";
import { EVAL_SIZES } from "./eval-sizes.ts";
import { Evals } from "./evals.ts";
import { graderRoutes } from "./grader-routes.ts";
import { evalRoutes } from "./routes.ts";

interface EvalsParts {
  accounts: Accounts;
  inference: Inference;
  config: Settings;
  database: Database;
  files: FileStorage;
  lifetime: AsyncDisposableStack;
  logger: Logger;
  recorded: RecordedContents | undefined;
}

/** Evals of models and prompts. */
export function openEvals({ accounts, config, database, files, lifetime, logger, recorded }: EvalsParts): Feature {
  const keyring = config.responses.store ? openContentKeys({ config, database, logger }) : undefined;
  const content = keyring && new SealedRows(keyring, logger);
  const requests = new InternalRequests("x-parlance-eval-request");
  const { maxSizePerProject } = config.evals;
  const texts = { subject: "evals", wayOut: "Delete evals or runs", setting: "evals.max_size_per_project" };
  const storedBytes = new StoredBytes({ database, logger, sizes: EVAL_SIZES, maxSizePerProject, texts });
  lifetime.defer(() => storedBytes.close());
  const evals = new Evals({ database, content, storedBytes });
  const stores = { database, files: files.files, recorded, storedBytes };
  const runs = new EvalRuns({ ...stores, logger, evals, content, accounts, requests });
  lifetime.defer(() => runs.close());
  if (keyring !== undefined && content !== undefined) {
    lifetime.use(evalEncryption({ database, keyring, content, logger }));
  }
  return {
    project: [evalRoutes(evals, runs), graderRoutes({ requests, timeoutSeconds: config.server.requestTimeoutSeconds })],
    addHooks: (app) => requests.addHooks(app),
    start: () => runs.start(),
    drain: () => runs.drain(),
  };
}
