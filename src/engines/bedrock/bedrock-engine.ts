import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { bedrockSettings } from "./settings.ts";

/** Amazon Bedrock: chat by ConverseStream, embeddings and reranking by InvokeModel. */
export const bedrockEngine = defineEngine({
  name: "bedrock",
  tasks: ["chat", "embedding"],
  settings: bedrockSettings,
  isUpstream: true,
  files: (settings) => tlsFiles(settings),
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-bedrock.ts"),
});
