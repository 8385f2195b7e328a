/** Asks an operator's webhook about texts. */

import { z } from "zod";
import type { WebhookDecision, WebhookQuestion } from "../../inference/guardrails/guardrail-services.ts";
import { unavailable } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Logger } from "../../kernel/logger.ts";
import { type AskOptions, postJson } from "../../kernel/outgoing/ask-json.ts";
import { VERSION } from "../../kernel/version.ts";
import { signWebhook } from "../webhooks/index.ts";
import type { GuardrailWebhook } from "./settings.ts";

const Decision = z.discriminatedUnion("action", [
  lazy.object(() => ({ action: z.literal("pass"), texts: z.array(z.string()).nullish() })),
  lazy.object(() => ({ action: z.literal("block"), reason: z.string().nullish() })),
]);

const MAX_REASON = 100;
const RETRY_AFTER_SECONDS = 5;

/** Resolves with undefined if the webhook fails and its requests then pass. Throws a Fault otherwise. */
export async function askWebhook(
  webhook: GuardrailWebhook,
  { stage, model, organizationId, projectId, texts }: WebhookQuestion,
  { logger, ...options }: Pick<AskOptions, "dispatcher" | "signal"> & { logger: Logger },
): Promise<WebhookDecision | undefined> {
  const { name, url, secret, timeoutSeconds, onFailure } = webhook;
  const id = newId("guard_");
  const timestamp = Math.floor(Date.now() / 1000);
  const data = { stage, model, organization_id: organizationId, project_id: projectId ?? null, texts };
  const payload = JSON.stringify({ id, type: "guardrail.check", created_at: timestamp, data });
  const headers = { ...signWebhook({ id, timestamp, payload }, secret), "user-agent": `Parlance/${VERSION}` };
  try {
    const answer = await postJson(url, payload, { ...options, headers, timeoutMs: timeoutSeconds * 1000 });
    const decision = Decision.parse(answer);
    if (decision.action === "block") {
      // The caller, the header and the history show the reason: the webhook decides what it says.
      return { action: "block", reason: decision.reason?.replace(/[\r\n"]/g, " ").slice(0, MAX_REASON) || name };
    }
    if (decision.texts != null && decision.texts.length !== texts.length) {
      throw new Error(`it returned ${decision.texts.length} texts for ${texts.length}`);
    }
    return { action: "pass", ...(decision.texts != null && { texts: decision.texts }) };
  } catch (failure) {
    options.signal.throwIfAborted();
    logger.warn({ webhook: name, error: withoutAnswer(failure), onFailure }, "guardrail webhook failed");
    if (onFailure === "pass") return undefined;
    const message = `The guardrail webhook \`${name}\` failed, and requests do not pass without it. Retry in ${RETRY_AFTER_SECONDS} s.`;
    throw unavailable(message, "engine_failed", RETRY_AFTER_SECONDS, failure);
  }
}

/** The schema's error would quote the answer. */
function withoutAnswer(failure: unknown): string {
  return failure instanceof z.ZodError ? "its answer has another form" : String(failure).slice(0, 300);
}
