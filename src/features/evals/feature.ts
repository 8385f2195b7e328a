import { InternalRequests } from "../../http/internal-requests.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { openContentKeys } from "../responses/feature.ts";
import { SealedRows } from "../responses/sealed-rows.ts";
import { evalEncryption } from "./eval-encryption.ts";
import { EvalRuns } from "./eval-runs.ts";
import { Evals } from "./evals.ts";
import { evalRoutes } from "./routes.ts";

/** Evals of models and prompts. */
export function openEvals({ accounts, config, database, files, lifetime, logger, recorded }: ServiceParts): Feature {
  const keyring = config.responses.store ? openContentKeys({ config, database, logger }) : undefined;
  const content = keyring && new SealedRows(keyring, logger);
  const requests = new InternalRequests("x-parlance-eval-request");
  const evals = new Evals(database, content);
  const runs = new EvalRuns({ database, logger, evals, files: files.files, content, recorded, accounts, requests });
  lifetime.defer(() => runs.close());
  if (keyring !== undefined && content !== undefined) {
    lifetime.use(evalEncryption({ database, keyring, content, logger }));
  }
  return {
    project: [evalRoutes(evals, runs)],
    addHooks: (app) => requests.addHooks(app),
    start: () => runs.start(),
    drain: () => runs.drain(),
  };
}
