import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { azureOpenAiSettings } from "./settings.ts";

/** OpenAI's models on Azure, whose API is OpenAI's with addresses and credentials of its own. */
export const azureOpenAiEngine = defineEngine({
  name: "azure-openai",
  tasks: ["chat", "embedding", "image"],
  settings: azureOpenAiSettings,
  isUpstream: true,
  files: (settings) => tlsFiles(settings),
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-azure-openai.ts"),
});
