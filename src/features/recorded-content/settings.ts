/** Section `recorded_content`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const recordedContentSettings = mapping(
  () => ({
    store_completions: z
      .boolean()
      .default(true)
      .describe(
        "Whether chat completions that say `store: true` are stored, encrypted. false: the field has no effect and is reported as ignored.",
      ),
    keep_completions_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(30)
      .describe("Days to keep a chat completion that its caller stored."),
    max_content_kilobytes: z
      .int()
      .min(1)
      .max(16_384)
      .default(256)
      .describe(
        "Maximum size of the content of one request in kilobytes of JSON, half of it for the answer. Of longer content, the newest messages of the prompt and the beginning of the answer are stored. The definitions of tools, and the fields of the request that a stored chat completion repeats, may have as much as the answer each; beyond it, tools and the largest fields are left out.",
      ),
  }),
  "Content of requests, which projects record (POST /v1/organization/projects/{project}/recording) and callers store.",
);

export type RecordedContentSettings = z.output<typeof recordedContentSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    recordedContent: z.output<typeof recordedContentSettings>;
  }
}
