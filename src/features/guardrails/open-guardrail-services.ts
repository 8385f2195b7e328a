/** Opens what guardrails ask of services of the operator. */

import type { GuardrailServices } from "../../inference/guardrails/guardrail-services.ts";
import { unavailable } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { askWebhook } from "./guardrail-webhook.ts";
import { analyzeWithPresidio } from "./presidio-client.ts";
import type { GuardrailServiceSettings } from "./settings.ts";

export function openGuardrailServices(
  { webhooks, presidio }: GuardrailServiceSettings,
  logger: Logger,
  lifetime: AsyncDisposableStack,
): GuardrailServices {
  // Operators have services in their own network, but none among a cloud's metadata.
  const guard = new OutgoingGuard({ reach: "private" });
  lifetime.defer(() => guard.close());
  const { dispatcher } = guard;
  return {
    analyze: (text, guardrail, signal) => analyzeWithPresidio(presidio, text, guardrail, { dispatcher, signal }),
    ask: async (name, question, signal) => {
      const webhook = webhooks.find((each) => each.name === name);
      if (webhook === undefined) throw notConfigured(name);
      return askWebhook(webhook, question, { dispatcher, signal, logger });
    },
  };
}

function notConfigured(name: string) {
  const message = `The guardrail webhook \`${name}\` is not configured in \`guardrail_services.webhooks\`. Ask the operator.`;
  return unavailable(message, "engine_failed", 60);
}
