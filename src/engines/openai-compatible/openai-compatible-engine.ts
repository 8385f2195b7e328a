import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "./connection/forwarded-headers.ts";
import { tlsFiles } from "./connection-settings.ts";
import { openAiCompatibleSettings } from "./settings.ts";

/** Any upstream with OpenAI's API: vLLM, llama-server, Ollama, a hosted service. */
export const openAiCompatibleEngine = defineEngine({
  name: "openai-compatible",
  tasks: ["chat", "embedding", "moderation", "speech", "transcription", "image"],
  settings: openAiCompatibleSettings,
  isUpstream: true,
  takesWildcards: true,
  files: (settings) => tlsFiles(settings),
  endpoints: ({ endpoints }) => endpoints,
  atEndpoint: (settings, { host, port }) => ({ ...settings, endpoints: undefined, endpoint: { host, port } }),
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-upstream.ts"),
});
