/** Schema of parlance.yaml: the sections of its parts, except for the settings of deployments, which each engine defines. */

import { z } from "zod";
import { connectionSettings } from "../catalog/connection-settings.ts";
import { localSettings } from "../catalog/local-settings.ts";
import { modelSettings } from "../catalog/model-settings.ts";
import { priceSettings } from "../catalog/price-settings.ts";
import { batchSettings } from "../features/batches/settings.ts";
import { cacheSettings } from "../features/cache/settings.ts";
import { codeInterpreterSettings } from "../features/code-interpreter/settings.ts";
import { evalSettings } from "../features/evals/settings.ts";
import { fileSettings } from "../features/files/settings.ts";
import { guardrailServiceSettings, guardrailSettings } from "../features/guardrails/settings.ts";
import { imageSettings } from "../features/images/settings.ts";
import { mailSettings } from "../features/mail/settings.ts";
import { mcpServerSettings, mcpSettings, mcpToolsetSettings } from "../features/mcp/settings.ts";
import { ollamaSettings } from "../features/ollama/settings.ts";
import { retentionSettings } from "../features/privacy/settings.ts";
import { quotaSettings } from "../features/quota/settings.ts";
import { realtimeSettings } from "../features/realtime/settings.ts";
import { recordedContentSettings } from "../features/recorded-content/settings.ts";
import { responseSettings } from "../features/responses/settings.ts";
import { savedChatSettings } from "../features/saved-chats/settings.ts";
import { signOnSettings } from "../features/sign-on/settings.ts";
import { usageSettings } from "../features/usage/settings.ts";
import { vectorStoreSettings } from "../features/vector-stores/settings.ts";
import { webSearchSettings } from "../features/web-search/settings.ts";
import { webhookEndpointSettings, webhookSettings } from "../features/webhooks/settings.ts";
import { serverSettings } from "../http/settings.ts";
import { mapping } from "../kernel/settings/mapping.ts";
import { directory } from "../kernel/settings/sizes.ts";
import { openTelemetrySettings } from "../observability/settings.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export const configFile = mapping(() => ({
  builtin_models: z
    .boolean()
    .default(true)
    .describe("Whether to serve the built-in models in addition to those in `models`."),
  default_aliases: z
    .boolean()
    .default(true)
    .describe(
      "Whether OpenAI's model names, such as whisper-1 and tts-1, are aliases of the built-in default models, claude-*, gemini-* and gpt-realtime* of the first chat model, gemini-embedding-* of the first embedding model, and dall-e-* and gpt-image-* of the first image model. A model, alias or wildcard in `models` that matches the name takes precedence.",
    ),
  configuration: z
    .enum(["live", "file_only"])
    .default("live")
    .describe(
      "live: administrators can add models, connections and some settings through the API and the console, to those of this file. file_only: only this file counts; what was added is kept but not applied.",
    ),
  connections: connectionSettings,
  models: z
    .array(modelSettings)
    .max(10_000)
    .prefault([])
    .describe("Models to serve, in the order in which GET /v1/models lists them."),
  prices: priceSettings.prefault({}),
  guardrails: guardrailSettings,
  guardrail_services: guardrailServiceSettings.prefault({}),
  server: serverSettings.prefault({}),
  limits: quotaSettings.prefault({}),
  usage: usageSettings.prefault({}),
  responses: responseSettings.prefault({}),
  saved_chats: savedChatSettings.prefault({}),
  retention: retentionSettings.prefault({}),
  recorded_content: recordedContentSettings.prefault({}),
  cache: cacheSettings.prefault({}),
  files: fileSettings.prefault({}),
  batches: batchSettings.prefault({}),
  evals: evalSettings.prefault({}),
  images: imageSettings.prefault({}),
  vector_stores: vectorStoreSettings.prefault({}),
  web_search: webSearchSettings.optional(),
  code_interpreter: codeInterpreterSettings.optional(),
  ollama: ollamaSettings.prefault({}),
  realtime: realtimeSettings.prefault({}),
  local: localSettings.prefault({}),
  mcp: mcpSettings.prefault({}),
  mcp_servers: mcpServerSettings,
  mcp_toolsets: mcpToolsetSettings,
  webhooks: webhookSettings,
  webhook_endpoints: webhookEndpointSettings.prefault({}),
  mail: mailSettings.optional(),
  sign_on: signOnSettings.prefault({}),
  opentelemetry: openTelemetrySettings.optional(),
  log_level: z.enum(LOG_LEVELS).default("info").describe("Minimum log level."),
  data_directory: directory
    .optional()
    .describe(
      "Directory of the SQLite database and the models, relative to this file. Default: .parlance in the working directory.",
    ),
  models_directory: directory
    .optional()
    .describe("Directory of the model files, relative to this file. Default: models in the data directory."),
}));

export type ConfigFile = z.output<typeof configFile>;
