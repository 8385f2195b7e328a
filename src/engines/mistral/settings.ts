/** Settings of a deployment of this engine. */

import { z } from "zod";
import {
  baseUrlSetting,
  CONNECTION_FIELDS,
  secret,
  toUpstreamSettings,
  type UpstreamSettings,
} from "../native-upstream/native-settings.ts";

export const mistralSettings = z
  .strictObject({
    base_url: baseUrlSetting("https://api.mistral.ai/v1"),
    api_key: secret.optional().describe("API key, sent as Authorization: Bearer"),
    ...CONNECTION_FIELDS,
    safe_prompt: z
      .boolean()
      .default(false)
      .describe("Whether the API adds its safety instructions to each conversation (`safe_prompt`)"),
  })
  .transform((value): MistralSettings => {
    const provider = { baseUrl: value.base_url, apiKey: value.api_key, probe: true };
    return { ...toUpstreamSettings(value, provider), safePrompt: value.safe_prompt };
  });

export interface MistralSettings extends UpstreamSettings {
  safePrompt: boolean;
}
