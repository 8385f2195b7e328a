/** What every table stores of persons: a table without an entry does not compile. */

import { accountData } from "../features/accounts/personal-data.ts";
import { batchData } from "../features/batches/personal-data.ts";
import { budgetData } from "../features/budgets/personal-data.ts";
import { configurationData } from "../features/configuration/personal-data.ts";
import { evalData } from "../features/evals/personal-data.ts";
import { fileData } from "../features/files/personal-data.ts";
import { mailData } from "../features/mail/personal-data.ts";
import { mcpGrantData } from "../features/mcp/grants/personal-data.ts";
import { mcpData } from "../features/mcp/personal-data.ts";
import { promptData } from "../features/prompts/personal-data.ts";
import { recordedContentData } from "../features/recorded-content/personal-data.ts";
import { responseData } from "../features/responses/personal-data.ts";
import { savedChatData } from "../features/saved-chats/personal-data.ts";
import { signOnData } from "../features/sign-on/personal-data.ts";
import { skillData } from "../features/skills/personal-data.ts";
import { uploadData } from "../features/uploads/personal-data.ts";
import { usageData } from "../features/usage/personal-data.ts";
import { vectorStoreData } from "../features/vector-stores/personal-data.ts";
import { webhookData } from "../features/webhooks/personal-data.ts";
import type { AllPersonalData } from "../storage/personal-data.ts";

const CATALOG_ID = "A model of the catalog.";

/** In the order of export and erasure: `users` comes last, because an erasure that was interrupted begins there again. */
export const PERSONAL_DATA = {
  cachedAnswers: {
    reason: "Answers by the hash of their request, which names nobody; they expire.",
    impersonal: { model: CATALOG_ID },
  },
  // Finds its rows by those of files.
  ...vectorStoreData,
  ...responseData,
  ...fileData,
  ...skillData,
  ...savedChatData,
  ...promptData,
  ...mcpData,
  ...uploadData,
  ...evalData,
  ...batchData,
  ...usageData,
  ...recordedContentData,
  ...webhookData,
  ...budgetData,
  ...mailData,
  ...mcpGrantData,
  consoleGrants: { rows: [{ by: { keyId: "key" }, hidden: ["tokenHash", "sessionId"], erase: "delete" }] },
  clientSecrets: { rows: [{ by: { keyId: "key" }, hidden: ["secretHash", "session"], erase: "delete" }] },
  idempotentRequests: {
    rows: [{ by: { keyId: "caller" }, hidden: ["id", "bodyHash", "answer"], erase: "delete" }],
  },
  ...configurationData,
  rateLimits: { reason: "Settings of projects.", impersonal: { model: CATALOG_ID } },
  spendLimits: { reason: "Settings of projects, organizations and keys." },
  moderationPolicies: {
    reason: "Settings of projects.",
    impersonal: { unsupportedLanguage: "One of a list.", model: CATALOG_ID, unsupportedLanguageModel: CATALOG_ID },
  },
  projectGuardrails: {
    reason: "Settings of projects.",
    impersonal: { guardrails: "Rules, which an erasure must not weaken." },
  },
  storedPolicies: { reason: "Settings of projects and organizations.", impersonal: { policy: "One of a list." } },
  modelSightings: { reason: "Models." },
  replicaCount: { reason: "Number of processes." },
  ...signOnData,
  ...accountData,
} as const satisfies AllPersonalData;
