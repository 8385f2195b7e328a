/** Section `responses`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";

export const responseSettings = mapping(
  () => ({
    store: z
      .boolean()
      .default(true)
      .describe(
        "Whether responses and conversations are stored, encrypted, unless a request says `store: false`. false: nothing is stored.",
      ),
    hosted_tools: z
      .enum(["refuse", "ignore"])
      .default("refuse")
      .describe(
        "What to do with tools that run on OpenAI's servers, such as web_search, in requests for models without them. refuse: 400. ignore: the model answers without them, and the header x-parlance-ignored-fields names them. Upstreams with the Responses API get them.",
      ),
    max_tool_calls: z
      .int()
      .min(1)
      .max(10_000)
      .default(100)
      .describe(
        "Maximum calls of tools that this service runs in one response, such as those of MCP servers. A request may set a lower one in `max_tool_calls`.",
      ),
    keep_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(30)
      .describe("Days to keep a stored response or conversation after its last use."),
    max_size_per_project: memory
      .prefault("5GiB")
      .describe(
        "Maximum size of the responses and conversations that one project stores, such as 500MB. Beyond it, further responses are answered with `store: false`, and conversations and background responses are refused.",
      ),
    max_connections_per_project: z
      .int()
      .min(1)
      .max(100_000)
      .default(200)
      .describe("Maximum number of WebSockets of the Responses API that a project may have open at this replica."),
    max_connection_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(3600)
      .describe("Seconds after which such a WebSocket takes no further requests, and ends once its responses have."),
  }),
  "The Responses API: its storage, tools and WebSockets.",
);

export type ResponseSettings = z.output<typeof responseSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    responses: z.output<typeof responseSettings>;
  }
}
