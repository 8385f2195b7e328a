import { accountsFeature } from "./accounts/feature.ts";
import { openAudio } from "./audio/feature.ts";
import { openBatches } from "./batches/feature.ts";
import { budgetFeature } from "./budgets/feature.ts";
import { cacheFeature } from "./cache/feature.ts";
import { chatFeature } from "./chat/feature.ts";
import { codeInterpreterFeature } from "./code-interpreter/feature.ts";
import { configurationFeature } from "./configuration/feature.ts";
import { consoleFeature } from "./console/feature.ts";
import { docsFeature } from "./docs/feature.ts";
import { embeddingFeature } from "./embeddings/feature.ts";
import { openEvals } from "./evals/feature.ts";
import type { OpenFeature } from "./feature.ts";
import { fileFeature } from "./files/feature.ts";
import { guardrailFeature } from "./guardrails/feature.ts";
import { imageFeature } from "./images/feature.ts";
import { mcpFeature } from "./mcp/feature.ts";
import { modelFeature } from "./models/feature.ts";
import { moderationFeature } from "./moderations/feature.ts";
import { ollamaFeature } from "./ollama/feature.ts";
import { operationsFeature } from "./operations/feature.ts";
import { openPrivacy } from "./privacy/feature.ts";
import { promptFeature } from "./prompts/feature.ts";
import { quotaFeature } from "./quota/feature.ts";
import { openRealtime } from "./realtime/feature.ts";
import { recordedContentFeature } from "./recorded-content/feature.ts";
import { rerankFeature } from "./rerank/feature.ts";
import { openResponses } from "./responses/feature.ts";
import { openSavedChats } from "./saved-chats/feature.ts";
import { scimFeature } from "./scim/feature.ts";
import { signOnFeature } from "./sign-on/feature.ts";
import { uploadFeature } from "./uploads/feature.ts";
import { usageFeature } from "./usage/feature.ts";
import { openVectorStores } from "./vector-stores/feature.ts";
import { webSearchFeature } from "./web-search/feature.ts";
import { webhookFeature } from "./webhooks/feature.ts";

/** The features of the service, in the order in which they open and register their routes. They close in reverse. */
export const FEATURES: readonly OpenFeature[] = [
  operationsFeature,
  consoleFeature,
  docsFeature,
  signOnFeature,
  chatFeature,
  openSavedChats,
  openResponses,
  mcpFeature,
  promptFeature,
  openEvals,
  fileFeature,
  uploadFeature,
  openBatches,
  openVectorStores,
  webSearchFeature,
  codeInterpreterFeature,
  modelFeature,
  openAudio,
  imageFeature,
  embeddingFeature,
  rerankFeature,
  moderationFeature,
  guardrailFeature,
  openRealtime,
  ollamaFeature,
  accountsFeature,
  openPrivacy,
  scimFeature,
  usageFeature,
  recordedContentFeature,
  configurationFeature,
  webhookFeature,
  quotaFeature,
  budgetFeature,
  cacheFeature,
];
