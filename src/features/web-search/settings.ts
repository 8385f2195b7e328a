/** Section `web_search`. */

import { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import { mapping } from "../../kernel/settings/mapping.ts";
import { webhookUrl } from "../../kernel/settings/webhooks.ts";

export const webSearchSettings = mapping(
  () => ({
    engine: z
      .enum(["searxng", "endpoint"])
      .default("searxng")
      .describe(
        'searxng: a SearXNG server with the format `json` enabled. endpoint: a service of yours that gets `{"query", "max_results", "user_location"}` as a POST and answers `{"results": [{"url", "title", "content"}]}`.',
      ),
    url: webhookUrl.describe("Address of the server, such as http://searxng:8080. Redirects are not followed."),
    api_key: z
      .string()
      .min(1)
      .transform((value) => new Secret(value))
      .optional()
      .describe("Sent as `Authorization: Bearer`."),
    timeout_seconds: z
      .number()
      .min(0.1)
      .max(120)
      .default(15)
      .describe("Time after which a search counts as a failure."),
    price_per_call: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,15})?$/, { error: 'must be US dollars as a text, such as "0.005"' })
      .optional()
      .describe('US dollars of each search, as a text such as "0.005".'),
  }),
  "Search engine of the tool `web_search` in responses. Without it, only upstreams with the Responses API have the tool.",
);

export type WebSearchSettings = z.output<typeof webSearchSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    webSearch: z.output<typeof webSearchSettings> | undefined;
  }
}
