/** Section `usage`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

const header = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { error: "must be the name of a header" })
  .transform((name) => name.toLowerCase());

const labels = mapping(
  () => ({
    end_users: z
      .boolean()
      .default(false)
      .describe(
        "Whether to sum usage by end user: `safety_identifier` or `user` of the request, or `metadata.user_id` of the Messages API. Such identifiers may be personal data.",
      ),
    end_user_header: header
      .optional()
      .describe("Header with the end user, such as x-openwebui-user-id; takes precedence over the request's body."),
    tag_header: header.optional().describe("Header with tags between commas, such as x-parlance-tags."),
    tag_metadata: z
      .array(z.string().min(1).max(64))
      .max(10)
      .default([])
      .describe("Keys of the request's `metadata` whose values are tags: `feature` makes the tag feature:search."),
    tools: z
      .boolean()
      .default(false)
      .describe("Whether to sum usage by tool: functions that answers call, and tools that the upstream runs."),
    session_header: header
      .optional()
      .describe("Header with the session of a request, for traces. Default: `metadata.session_id`."),
    max_values: z
      .int()
      .min(1)
      .max(100_000)
      .default(1000)
      .describe(
        'Maximum distinct end users, tags and tools each that one project adds in a UTC day and process; further ones are summed as "(other)".',
      ),
  }),
  "What usage is summed by in addition to project, key and model. A request without labels costs nothing more.",
);

export type LabelSettings = z.output<typeof labels>;

export const usageSettings = mapping(
  () => ({
    record_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(90)
      .describe(
        "Days to keep usage by the minute, and usage by label by the hour; hourly and daily totals are kept indefinitely.",
      ),
    request_days: z
      .int()
      .min(0)
      .max(3650)
      .default(7)
      .describe(
        "Days to keep the metadata of each request (model, deployment, times, tokens, error), which GET /v1/organization/requests lists; never its content. 0 records none.",
      ),
    labels: labels.prefault({}),
  }),
  "Retention of usage records, and labels.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    usage: z.output<typeof usageSettings>;
  }
}
