import { accountsFeature } from "../features/accounts/feature.ts";
import { openAudio } from "../features/audio/feature.ts";
import { openBatches } from "../features/batches/feature.ts";
import { budgetFeature } from "../features/budgets/feature.ts";
import { cacheFeature } from "../features/cache/feature.ts";
import { chatFeature } from "../features/chat/feature.ts";
import { codeInterpreterFeature } from "../features/code-interpreter/feature.ts";
import { cohereFeature } from "../features/cohere/feature.ts";
import { configurationFeature } from "../features/configuration/feature.ts";
import { consoleFeature } from "../features/console/feature.ts";
import { decisionFeature } from "../features/decisions/feature.ts";
import { docsFeature } from "../features/docs/feature.ts";
import { embeddingFeature } from "../features/embeddings/feature.ts";
import { openEvals } from "../features/evals/feature.ts";
import { fileFeature } from "../features/files/feature.ts";
import { geminiFeature } from "../features/gemini/feature.ts";
import { guardrailFeature } from "../features/guardrails/feature.ts";
import { idempotencyFeature } from "../features/idempotency/feature.ts";
import { imageFeature } from "../features/images/feature.ts";
import { mcpFeature } from "../features/mcp/feature.ts";
import { modelFeature } from "../features/models/feature.ts";
import { moderationFeature } from "../features/moderations/feature.ts";
import { ollamaFeature } from "../features/ollama/feature.ts";
import { operationsFeature } from "../features/operations/feature.ts";
import { openPrivacy } from "../features/privacy/feature.ts";
import { promptFeature } from "../features/prompts/feature.ts";
import { quotaFeature } from "../features/quota/feature.ts";
import { openRealtime } from "../features/realtime/feature.ts";
import { recordedContentFeature } from "../features/recorded-content/feature.ts";
import { rerankFeature } from "../features/rerank/feature.ts";
import { openResponses } from "../features/responses/feature.ts";
import { openSavedChats } from "../features/saved-chats/feature.ts";
import { scimFeature } from "../features/scim/feature.ts";
import { signOnFeature } from "../features/sign-on/feature.ts";
import { skillFeature } from "../features/skills/feature.ts";
import { toolSearchFeature } from "../features/tool-search/feature.ts";
import { toolFeature } from "../features/tools/feature.ts";
import { uploadFeature } from "../features/uploads/feature.ts";
import { usageFeature } from "../features/usage/feature.ts";
import { openVectorStores } from "../features/vector-stores/feature.ts";
import { webSearchFeature } from "../features/web-search/feature.ts";
import { webhookFeature } from "../features/webhooks/feature.ts";

/** The features of the service, in the order in which they open and register their routes. They close in reverse. */
export const FEATURES = [
  operationsFeature,
  consoleFeature,
  docsFeature,
  signOnFeature,
  idempotencyFeature,
  chatFeature,
  decisionFeature,
  openSavedChats,
  openResponses,
  mcpFeature,
  promptFeature,
  openEvals,
  fileFeature,
  uploadFeature,
  skillFeature,
  openBatches,
  openVectorStores,
  webSearchFeature,
  toolFeature,
  toolSearchFeature,
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
  geminiFeature,
  cohereFeature,
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
] as const;
