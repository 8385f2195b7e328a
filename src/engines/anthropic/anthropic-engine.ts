import { defineEngine } from "../define-engine.ts";
import { forwardedHeaders } from "../openai-compatible/connection/forwarded-headers.ts";
import { tlsFiles } from "../openai-compatible/connection-settings.ts";
import { callerVersion } from "./caller-version.ts";
import { anthropicSettings } from "./settings.ts";

/** Anthropic's Messages API. */
export const anthropicEngine = defineEngine({
  name: "anthropic",
  tasks: ["chat"],
  settings: anthropicSettings,
  isUpstream: true,
  takesWildcards: true,
  files: (settings) => tlsFiles(settings),
  forwardedHeaders: ({ forwardRules }, headers) => ({
    ...forwardedHeaders(forwardRules, headers),
    ...callerVersion(headers),
  }),
  module: () => import("./open-anthropic.ts"),
});
