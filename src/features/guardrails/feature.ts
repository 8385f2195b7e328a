import type { Catalog } from "../../catalog/catalog.ts";
import type { Feature } from "../../http/feature.ts";
import type { InferenceOptions } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { GuardrailAudit } from "./guardrail-audit.ts";
import { projectGuardrails } from "./guardrail-policy.ts";
import { openGuardrailServices } from "./open-guardrail-services.ts";

interface GuardrailsParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
}

interface OpenGuardrailsParts {
  config: Settings;
  accounts: Accounts;
  catalog: Catalog;
}

/** Opens what guardrails ask of services of the operator, and the record of what they did. */
export function openGuardrails({
  config,
  database,
  logger,
  lifetime,
}: GuardrailsParts): Pick<InferenceOptions, "guardrailServices" | "onGuarded"> {
  const guardrailServices = openGuardrailServices(config.guardrailServices, logger, lifetime);
  const audit = new GuardrailAudit(database, logger);
  lifetime.defer(() => audit.close());
  return { guardrailServices, onGuarded: (request) => audit.add(request) };
}

/** Guardrails of projects. */
export function guardrailFeature({ config, accounts, catalog }: OpenGuardrailsParts): Feature {
  return { admin: [projectGuardrails(accounts, catalog, config.guardrailServices)] };
}
