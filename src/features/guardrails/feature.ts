import type { Feature, ServiceParts } from "../feature.ts";
import { projectGuardrails } from "./routes.ts";

/** Guardrails of projects. */
export function guardrailFeature({ config, accounts, catalog }: ServiceParts): Feature {
  return { admin: [projectGuardrails(accounts, catalog, config.guardrailServices)] };
}
