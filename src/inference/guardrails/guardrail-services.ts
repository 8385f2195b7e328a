/** What guardrails ask of others: services of the operator, and models. */

import type { Match } from "@parlance-inference/text-privacy/match";
import type { Guardrail, GuardrailStage } from "../../contracts/guardrail.ts";

export interface WebhookQuestion {
  stage: GuardrailStage;
  /** Catalog ID or alias that the caller requested. */
  model: string;
  organizationId: string;
  projectId: string | undefined;
  texts: readonly string[];
}

/** `texts` take the place of those of the question; undefined: they stay. */
export type WebhookDecision = { action: "pass"; texts?: readonly string[] } | { action: "block"; reason: string };

export interface GuardrailServices {
  /** Finds personal data with the Presidio server. Throws a Fault while it is away, or none is configured. */
  analyze(text: string, guardrail: Guardrail, signal: AbortSignal): Promise<readonly Match[]>;
  /** Asks a webhook by its name. Resolves with undefined if it fails and is configured to let requests pass. Throws a Fault. */
  ask(name: string, question: WebhookQuestion, signal: AbortSignal): Promise<WebhookDecision | undefined>;
}
