/** Section `ollama`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const ollamaSettings = mapping(
  () => ({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        "Whether to serve Ollama's API below /api, and to answer `GET /` of other clients than browsers as Ollama.",
      ),
    anonymous_project: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        "ID or name of a project of the default organization, such as `Default project`: requests to /api without a key count for it, because most of Ollama's clients send none. Anyone who reaches the port can then use its models. Default: a key is required.",
      ),
    anonymous_hosts: z
      .array(z.string().regex(/^[a-z0-9_.-]{1,253}$/i, { error: "it must be a host name without a port" }))
      .default([])
      .describe(
        "Host names, such as `ai.example.com`, under which requests without a key are answered, beside IP addresses, localhost, the name of this machine, names without a dot and names below `internal`. Other names are refused, because web pages could use them to reach a private address (DNS rebinding).",
      ),
  }),
  "Ollama's API.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    ollama: z.output<typeof ollamaSettings>;
  }
}
