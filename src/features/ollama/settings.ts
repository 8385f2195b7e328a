/** Section `ollama`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const ollamaSettings = mapping(
  {
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
  },
  "Ollama's API.",
);
