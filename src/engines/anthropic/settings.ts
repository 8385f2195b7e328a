/** Settings of a deployment of this engine. */

import { z } from "zod";
import {
  baseUrlSetting,
  CONNECTION_FIELDS,
  secret,
  toUpstreamSettings,
  type UpstreamSettings,
} from "../native-upstream/native-settings.ts";

/** Largest answer that every model since Claude Opus 4 gives. */
const MAX_OUTPUT_TOKENS = 32_000;

const lifetime = z.enum(["5m", "1h"]);

export const anthropicSettings = z
  .strictObject({
    base_url: baseUrlSetting("https://api.anthropic.com/v1"),
    api_key: secret.optional().describe("API key, sent as x-api-key"),
    auth_token: secret.optional().describe("OAuth token in place of `api_key`, sent as Authorization: Bearer"),
    anthropic_version: z
      .string()
      .min(1)
      .default("2023-06-01")
      .describe("Version of the API, sent as anthropic-version"),
    anthropic_beta: z
      .array(z.string().min(1))
      .default([])
      .describe("Beta features, sent as anthropic-beta. Callers' own reach the API if `forward_headers` lists it"),
    ...CONNECTION_FIELDS,
    max_output_tokens: z
      .int()
      .min(1)
      .default(MAX_OUTPUT_TOKENS)
      .describe("`max_tokens` of requests that leave it out, which the API requires"),
    thinking: z
      .enum(["adaptive", "budget"])
      .optional()
      .describe(
        "How a `reasoning_effort` is sent. adaptive: as `output_config.effort`, and the model decides how much it thinks. budget: as a budget of tokens. Default: budget for models up to Claude 4.5, adaptive for later ones",
      ),
    cache: z
      .strictObject({
        instructions: lifetime
          .optional()
          .describe("Lifetime of a mark at the end of the tools and system prompt, which conversations share"),
        conversation: lifetime
          .optional()
          .describe("Lifetime of a mark at the end of the conversation, which its next turn reads"),
      })
      .prefault({})
      .describe(
        "Marks (`cache_control`) that requests without marks of their own get, so that the API caches their prompts. Default: none",
      ),
  })
  .refine((value) => value.api_key === undefined || value.auth_token === undefined, {
    path: ["auth_token"],
    error: "cannot be set together with api_key",
  })
  .transform(({ api_key, auth_token, anthropic_version, anthropic_beta, ...value }): AnthropicSettings => {
    const headers = {
      "x-api-key": api_key,
      "anthropic-version": anthropic_version,
      "anthropic-beta": anthropic_beta.length === 0 ? undefined : anthropic_beta.join(","),
    };
    return {
      ...toUpstreamSettings(value, { baseUrl: value.base_url, headers, apiKey: auth_token, probe: true }),
      maxOutputTokens: value.max_output_tokens,
      thinking: value.thinking,
      cache: value.cache,
    };
  });

type Lifetime = z.output<typeof lifetime>;

export interface AnthropicSettings extends UpstreamSettings {
  maxOutputTokens: number;
  thinking: "adaptive" | "budget" | undefined;
  cache: { instructions?: Lifetime | undefined; conversation?: Lifetime | undefined };
}
