import type { InferenceOptions } from "../../inference/inference.ts";
import type { BaseParts, Feature, ServiceParts } from "../feature.ts";
import { GuardrailAudit } from "./guardrail-audit.ts";
import { openGuardrailServices } from "./open-guardrail-services.ts";
import { projectGuardrails } from "./routes.ts";

/** Opens what guardrails ask of services of the operator, and the record of what they did. */
export function openGuardrails({
  config,
  database,
  logger,
  lifetime,
}: BaseParts): Pick<InferenceOptions, "guardrailServices" | "onGuarded"> {
  const guardrailServices = openGuardrailServices(config.guardrailServices, logger, lifetime);
  const audit = new GuardrailAudit(database, logger);
  lifetime.defer(() => audit.close());
  return { guardrailServices, onGuarded: (request) => audit.add(request) };
}

/** Guardrails of projects. */
export function guardrailFeature({ config, accounts, catalog }: ServiceParts): Feature {
  return { admin: [projectGuardrails(accounts, catalog, config.guardrailServices)] };
}
