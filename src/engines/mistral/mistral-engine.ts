import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { mistralSettings } from "./settings.ts";

/** Mistral's own API. */
export const mistralEngine = defineEngine({
  name: "mistral",
  tasks: ["chat", "embedding"],
  settings: mistralSettings,
  isUpstream: true,
  takesWildcards: true,
  files: (settings) => tlsFiles(settings),
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-mistral.ts"),
});
