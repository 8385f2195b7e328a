/** What every table stores of persons, from where its rows are declared: a table that says nothing does not compile. */

import { modelSightingData } from "../catalog/model-first-seen.ts";
import { accountData } from "../features/accounts/account-rows.ts";
import { peopleData } from "../features/accounts/people-rows.ts";
import { apiKeyData } from "../features/accounts/personal-data.ts";
import { storedPolicyData } from "../features/accounts/policies/stored-policy.ts";
import { resolvedNameData } from "../features/accounts/resolved-names.ts";
import { consoleGrantData } from "../features/accounts/sessions/console-grant-rows.ts";
import { batchPartData } from "../features/batches/batch-rows.ts";
import { batchData } from "../features/batches/personal-data.ts";
import { spendAlertData } from "../features/budgets/budget-rows.ts";
import { budgetData } from "../features/budgets/personal-data.ts";
import { cachedAnswerData } from "../features/cache/database-cache-store.ts";
import { configurationData } from "../features/configuration/configuration-rows.ts";
import { evalData } from "../features/evals/eval-rows.ts";
import { fileData } from "../features/files/personal-data.ts";
import { projectGuardrailData } from "../features/guardrails/guardrail-rows.ts";
import { idempotentRequestData } from "../features/idempotency/idempotent-request-rows.ts";
import { mailData } from "../features/mail/personal-data.ts";
import { mcpCallData } from "../features/mcp/mcp-call-rows.ts";
import { mcpGrantData } from "../features/mcp/mcp-grant-rows.ts";
import { mcpMessageData } from "../features/mcp/mcp-rows.ts";
import { moderationPolicyData } from "../features/moderations/policy-rows.ts";
import { promptData } from "../features/prompts/prompt-rows.ts";
import { limitData } from "../features/quota/limit-rows.ts";
import { clientSecretData } from "../features/realtime/client-secret-rows.ts";
import { recordedContentData } from "../features/recorded-content/personal-data.ts";
import { projectRecordingData } from "../features/recorded-content/recorded-content-rows.ts";
import { responseData } from "../features/responses/personal-data.ts";
import { responseItemData } from "../features/responses/stored-response-rows.ts";
import { savedChatData } from "../features/saved-chats/personal-data.ts";
import { signOnData } from "../features/sign-on/sign-on-rows.ts";
import { skillVersionData } from "../features/skills/personal-data.ts";
import { skillData } from "../features/skills/skill-rows.ts";
import { uploadData } from "../features/uploads/upload-rows.ts";
import { usageData } from "../features/usage/personal-data.ts";
import { usageSumData } from "../features/usage/usage-rows.ts";
import { vectorStoreFileData } from "../features/vector-stores/personal-data.ts";
import { vectorStoreData } from "../features/vector-stores/vector-store-rows.ts";
import { webhookEndpointData } from "../features/webhooks/endpoints/endpoint-rows.ts";
import { webhookData } from "../features/webhooks/personal-data.ts";
import { outageData } from "../features/webhooks/webhook-rows.ts";
import type { AllPersonalData } from "../storage/personal-data.ts";
import { replicaCountData } from "../storage/replica-count.ts";

/** In the order of export and erasure: `users` comes last, because an erasure that was interrupted begins there again. */
export const PERSONAL_DATA = {
  ...cachedAnswerData,
  // Finds its rows by those of files.
  ...vectorStoreFileData,
  ...vectorStoreData,
  ...responseData,
  ...responseItemData,
  ...fileData,
  ...skillData,
  ...skillVersionData,
  ...savedChatData,
  ...promptData,
  ...mcpCallData,
  ...mcpMessageData,
  ...uploadData,
  ...evalData,
  ...batchData,
  ...batchPartData,
  ...usageData,
  ...usageSumData,
  ...recordedContentData,
  ...projectRecordingData,
  ...webhookData,
  ...outageData,
  ...webhookEndpointData,
  ...budgetData,
  ...spendAlertData,
  ...mailData,
  ...mcpGrantData,
  ...consoleGrantData,
  ...clientSecretData,
  ...idempotentRequestData,
  ...configurationData,
  ...limitData,
  ...moderationPolicyData,
  ...projectGuardrailData,
  ...storedPolicyData,
  ...modelSightingData,
  ...replicaCountData,
  ...signOnData,
  ...resolvedNameData,
  ...accountData,
  ...apiKeyData,
  ...peopleData,
} as const satisfies AllPersonalData;
