/** What every table stores of persons: a table without an entry does not compile. */

import { accountData } from "./accounts/personal-data.ts";
import { batchData } from "./batches/personal-data.ts";
import { budgetData } from "./budgets/personal-data.ts";
import { configurationData } from "./configuration/personal-data.ts";
import { evalData } from "./evals/personal-data.ts";
import { fileData } from "./files/personal-data.ts";
import { mailData } from "./mail/personal-data.ts";
import { mcpGrantData } from "./mcp/grants/personal-data.ts";
import { mcpData } from "./mcp/personal-data.ts";
import type { AllPersonalData } from "./privacy/personal-data.ts";
import { promptData } from "./prompts/personal-data.ts";
import { recordedContentData } from "./recorded-content/personal-data.ts";
import { responseData } from "./responses/personal-data.ts";
import { savedChatData } from "./saved-chats/personal-data.ts";
import { signOnData } from "./sign-on/personal-data.ts";
import { uploadData } from "./uploads/personal-data.ts";
import { usageData } from "./usage/personal-data.ts";
import { vectorStoreData } from "./vector-stores/personal-data.ts";
import { webhookData } from "./webhooks/personal-data.ts";

/** In the order of export and erasure: `users` comes last, because an erasure that was interrupted begins there again. */
export const PERSONAL_DATA = {
  cachedAnswers: { reason: "Answers by the hash of their request, which names nobody; they expire." },
  // Finds its rows by those of files.
  ...vectorStoreData,
  ...responseData,
  ...fileData,
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
  ...mcpData,
  ...mcpGrantData,
  consoleGrants: { rows: [{ by: { keyId: "key" }, hidden: ["tokenHash", "sessionId"], erase: "delete" }] },
  clientSecrets: { rows: [{ by: { keyId: "key" }, hidden: ["secretHash", "session"], erase: "delete" }] },
  ...configurationData,
  rateLimits: { reason: "Settings of projects." },
  spendLimits: { reason: "Settings of projects, organizations and keys." },
  moderationPolicies: { reason: "Settings of projects." },
  projectGuardrails: { reason: "Settings of projects." },
  modelSightings: { reason: "Models." },
  replicaCount: { reason: "Number of processes." },
  ...signOnData,
  ...accountData,
} as const satisfies AllPersonalData;
