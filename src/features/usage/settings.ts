/** Section `usage`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const usageSettings = mapping(
  {
    record_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(90)
      .describe("Days to keep usage by the minute; hourly and daily totals are kept indefinitely."),
    request_days: z
      .int()
      .min(0)
      .max(3650)
      .default(7)
      .describe(
        "Days to keep the metadata of each request (model, deployment, times, tokens, error), which GET /v1/organization/requests lists; never its content. 0 records none.",
      ),
  },
  "Retention of usage records.",
);
