import type { AccountExtensions } from "../features/accounts/extensions.ts";
import type { AllKeyPolicies } from "../features/accounts/keys/key-policy.ts";
import { retentionPolicy } from "../features/accounts/policies/data-retention-policy.ts";
import { keywordPolicy } from "../features/audio/keyword-policy.ts";
import { pronunciationPolicy } from "../features/audio/pronunciation-policy.ts";
import { budgetPolicy } from "../features/budgets/key-policy.ts";
import { guardrailPolicy } from "../features/guardrails/guardrail-policy.ts";
import { deleteGrantsOfUser } from "../features/mcp/grants/grant-queries.ts";
import { moderationKeyPolicy } from "../features/moderations/moderation-policy.ts";
import { rateLimitPolicy, spendLimitPolicy } from "../features/quota/key-policies.ts";
import { serviceTierPolicy } from "../features/quota/service-tier-policy.ts";
import { recordingPolicy } from "../features/recorded-content/recording-policy.ts";
import { removeStoredContentOf } from "../features/responses/stored-response-queries.ts";
import { findSessionKeys } from "../features/sign-on/user-session-queries.ts";
import { hostedToolPolicy } from "../features/tools/hosted-tool-policy.ts";
import { toWebhookEvent } from "../features/webhooks/account-webhooks.ts";
import { removeWebhookEndpointsOf } from "../features/webhooks/endpoints/endpoint-queries.ts";
import type { WebhookOutbox } from "../features/webhooks/webhook-outbox.ts";

/** The policies of keys. Workers know them, too. */
export const KEY_POLICIES: AllKeyPolicies = {
  rateLimits: rateLimitPolicy,
  spendLimits: spendLimitPolicy,
  budgets: budgetPolicy,
  moderation: moderationKeyPolicy,
  guardrails: guardrailPolicy,
  recording: recordingPolicy,
  retention: retentionPolicy,
  serviceTiers: serviceTierPolicy,
  disabledTools: hostedToolPolicy,
  pronunciations: pronunciationPolicy,
  transcriptionKeywords: keywordPolicy,
};

/** What the features add to accounts. `outbox` undefined: no webhooks. */
export function accountExtensions(outbox?: WebhookOutbox): AccountExtensions {
  return {
    policies: KEY_POLICIES,
    credentials: [findSessionKeys],
    onAudited: async (executor, event, now) => {
      const reported = toWebhookEvent(event);
      if (reported !== undefined) await outbox?.add(executor, reported, now);
    },
    onProjectArchived: async (executor, projectId) => {
      await removeStoredContentOf(executor, projectId);
      await removeWebhookEndpointsOf(executor, projectId);
    },
    onUserConfirmed: deleteGrantsOfUser,
  };
}
