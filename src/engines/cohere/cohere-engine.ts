import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { cohereSettings } from "./settings.ts";

/** Cohere's API, version 2. */
export const cohereEngine = defineEngine({
  name: "cohere",
  tasks: ["chat", "embedding"],
  settings: cohereSettings,
  isUpstream: true,
  files: (settings) => tlsFiles(settings),
  forwardedHeaders: ({ forwardRules }, headers) => forwardedHeaders(forwardRules, headers),
  module: () => import("./open-cohere.ts"),
});
