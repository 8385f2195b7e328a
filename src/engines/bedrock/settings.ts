/** Settings of a deployment of this engine. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import type { Secret } from "../../kernel/secret.ts";
import type { ThinkingMode } from "../native-upstream/claude-thinking.ts";
import {
  CONNECTION_FIELDS,
  secret,
  toUpstreamSettings,
  type UpstreamSettings,
} from "../native-upstream/native-settings.ts";
import { baseUrl } from "../openai-compatible/connection-settings.ts";

const guardrail = lazy.strictObject(() => ({
  id: z.string().min(1).describe("ID or ARN of the guardrail"),
  version: z.string().min(1).default("DRAFT").describe("Version of the guardrail"),
}));

export const bedrockSettings = lazy
  .strictObject(() => ({
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: "is not a region, such as eu-central-1" })
      .describe("AWS region, such as eu-central-1"),
    base_url: baseUrl
      .optional()
      .describe(
        "Address in place of the region's, such as that of a VPC endpoint. Default: https://bedrock-runtime.REGION.amazonaws.com",
      ),
    api_key: secret.optional().describe("Bedrock API key, sent as Authorization: Bearer, in place of AWS credentials"),
    access_key_id: z.string().min(1).optional().describe("Access key, with `secret_access_key`"),
    secret_access_key: secret.optional().describe("Secret of the access key"),
    session_token: secret.optional().describe("Session token of temporary credentials"),
    profile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Profile of ~/.aws/credentials or ~/.aws/config. Default: AWS_ACCESS_KEY_ID, AWS_PROFILE, the role of AWS_WEB_IDENTITY_TOKEN_FILE, of the container or of the instance, in this order",
      ),
    ...CONNECTION_FIELDS,
    max_output_tokens: z.int().min(1).optional().describe("Maximum tokens of answers to requests that leave it out"),
    thinking: z
      .enum(["adaptive", "budget"])
      .optional()
      .describe(
        "How a `reasoning_effort` is sent to a Claude model: as an effort, or as a budget of tokens. Default: budget for models up to Claude 4.5",
      ),
    guardrail: guardrail.optional().describe("Guardrail of Bedrock that checks prompts and answers"),
  }))
  .refine((value) => (value.access_key_id === undefined) === (value.secret_access_key === undefined), {
    path: ["secret_access_key"],
    error: "must be set together with access_key_id",
  })
  .refine((value) => value.api_key === undefined || (value.access_key_id ?? value.profile) === undefined, {
    path: ["api_key"],
    error: "cannot be set together with access_key_id or profile",
  })
  .transform((value): BedrockSettings => {
    const address = value.base_url ?? `https://bedrock-runtime.${value.region}.amazonaws.com`;
    const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = value;
    const isKey = accessKeyId !== undefined && secretAccessKey !== undefined;
    return {
      ...toUpstreamSettings(value, { baseUrl: address, apiKey: value.api_key }),
      region: value.region,
      keys: isKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined,
      profile: value.profile,
      maxOutputTokens: value.max_output_tokens,
      thinking: value.thinking,
      guardrail: value.guardrail,
    };
  });

export interface BedrockSettings extends UpstreamSettings {
  region: string;
  keys: { accessKeyId: string; secretAccessKey: Secret; sessionToken: Secret | undefined } | undefined;
  profile: string | undefined;
  maxOutputTokens: number | undefined;
  thinking: ThinkingMode | undefined;
  guardrail: z.output<typeof guardrail> | undefined;
}
