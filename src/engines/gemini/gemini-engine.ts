import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { geminiSettings } from "./settings.ts";

/** Google's Gemini API, also on Vertex AI. */
export const geminiEngine = defineEngine({
  name: "gemini",
  tasks: ["chat", "embedding"],
  settings: geminiSettings,
  isUpstream: true,
  takesWildcards: true,
  files: (settings) => [
    ...tlsFiles(settings),
    ...(settings.serviceAccountFile === undefined ? [] : [settings.serviceAccountFile]),
  ],
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-gemini.ts"),
});
