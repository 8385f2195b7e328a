/** Settings of a deployment of this engine. */

import { z } from "zod";
import {
  baseUrlSetting,
  CONNECTION_FIELDS,
  secret,
  toUpstreamSettings,
  type UpstreamSettings,
} from "../native-upstream/native-settings.ts";

const INPUT_TYPES = ["search_document", "search_query", "classification", "clustering"] as const;

export const cohereSettings = z
  .strictObject({
    base_url: baseUrlSetting("https://api.cohere.com/v2"),
    api_key: secret.optional().describe("API key, sent as Authorization: Bearer"),
    ...CONNECTION_FIELDS,
    safety_mode: z
      .enum(["CONTEXTUAL", "STRICT", "OFF"])
      .optional()
      .describe("Safety instructions that the API adds to conversations (`safety_mode`). Default: the API's"),
    input_type: z
      .enum(INPUT_TYPES)
      .default("search_document")
      .describe("What embeddings are for, which the API requires (`input_type`)"),
  })
  .transform((value): CohereSettings => {
    const provider = { baseUrl: value.base_url, apiKey: value.api_key };
    return {
      ...toUpstreamSettings(value, provider),
      safetyMode: value.safety_mode,
      inputType: value.input_type,
    };
  });

export interface CohereSettings extends UpstreamSettings {
  safetyMode: "CONTEXTUAL" | "STRICT" | "OFF" | undefined;
  inputType: (typeof INPUT_TYPES)[number];
}
