/** Settings of a deployment of this engine. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import {
  CONNECTION_FIELDS,
  secret,
  toUpstreamSettings,
  type UpstreamSettings,
} from "../native-upstream/native-settings.ts";
import { baseUrl } from "../openai-compatible/connection-settings.ts";

const DEVELOPER_API = "https://generativelanguage.googleapis.com/v1beta";

const vertex = lazy.strictObject(() => ({
  project: z
    .string()
    .regex(/^[a-z0-9:.-]+$/i, { error: "is not the ID of a project" })
    .describe("ID of the Google Cloud project"),
  location: z
    .string()
    .regex(/^[a-z0-9-]+$/, { error: "is not a location, such as europe-west4 or global" })
    .default("global")
    .describe("Location of the models, such as europe-west4"),
}));

export const geminiSettings = lazy
  .strictObject(() => ({
    base_url: baseUrl.optional().describe(`Base URL. Default: ${DEVELOPER_API}, or Vertex AI's address of \`vertex\``),
    api_key: secret.optional().describe("API key of the Gemini API, sent as x-goog-api-key"),
    service_account_file: z
      .string()
      .min(1)
      .optional()
      .describe("JSON key file of a service account, for Vertex AI. Access tokens are renewed before they expire"),
    vertex: vertex.optional().describe("Uses Vertex AI in place of the Gemini API"),
    ...CONNECTION_FIELDS,
    thinking: z
      .enum(["level", "budget"])
      .optional()
      .describe(
        "How a `reasoning_effort` is sent: as `thinkingLevel`, or as `thinkingBudget` in tokens. Default: budget for Gemini 2.5, level for later models",
      ),
    safety: z
      .record(z.string().regex(/^HARM_CATEGORY_[A-Z_]+$/), z.string().regex(/^[A-Z_]+$/))
      .default({})
      .describe("Thresholds by category of harm, such as `HARM_CATEGORY_HARASSMENT: BLOCK_ONLY_HIGH`"),
  }))
  .refine((value) => value.api_key === undefined || value.service_account_file === undefined, {
    path: ["service_account_file"],
    error: "cannot be set together with api_key",
  })
  .transform((value): GeminiSettings => {
    const headers = { "x-goog-api-key": value.api_key };
    const address = value.base_url ?? (value.vertex === undefined ? DEVELOPER_API : vertexAddress(value.vertex));
    return {
      ...toUpstreamSettings(value, { baseUrl: address, headers, probe: value.vertex === undefined }),
      serviceAccountFile: value.service_account_file,
      isVertex: value.vertex !== undefined,
      thinking: value.thinking,
      safety: value.safety,
    };
  });

function vertexAddress({ project, location }: z.output<typeof vertex>): string {
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}/publishers/google`;
}

export interface GeminiSettings extends UpstreamSettings {
  serviceAccountFile: string | undefined;
  isVertex: boolean;
  thinking: "level" | "budget" | undefined;
  safety: Readonly<Record<string, string>>;
}
