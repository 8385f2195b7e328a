import type { Guardrail } from "../../contracts/guardrail.ts";
import { projectKeyPolicy } from "../accounts/index.ts";
import { findGuardrailsOf } from "./guardrail-queries.ts";
import type { ProjectGuardrailsRow } from "./guardrail-rows.ts";
import { toGuardrails } from "./stored-guardrails.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Guardrails of the project except for its moderation policy, in order. */
    guardrails: readonly Guardrail[];
  }
}

export const guardrailPolicy = projectKeyPolicy<ProjectGuardrailsRow, readonly Guardrail[]>(
  [],
  findGuardrailsOf,
  (rows) => rows.flatMap(toGuardrails),
);
