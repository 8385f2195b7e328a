/** Section `limits`: default limits, which administrators can override. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

const count = z.int().min(0).max(1_000_000_000);

const scope = mapping(() => ({
  requests_per_minute: count.optional().describe("Requests within any 60 seconds."),
  requests_per_day: count.optional().describe("Requests within any 24 hours."),
  tokens_per_minute: count
    .optional()
    .describe("Prompt and completion tokens within any 60 seconds (chat, embedding, moderation)."),
  audio_megabytes_per_minute: count
    .optional()
    .describe("Megabytes (1,000,000 bytes) of uploaded audio within any 60 seconds (transcription)."),
  images_per_minute: count.optional().describe("Generated images within any 60 seconds."),
  concurrent_requests: count.optional().describe("Concurrent requests."),
})).prefault({});

export const quotaSettings = mapping(
  () => ({
    project_model: scope.describe(
      "Limits of each project for each model. Administrators can override them per project and model.",
    ),
    organization: scope.describe("Limits of each organization for all models together."),
    key: scope.describe("Limits of each API key for all models together."),
    user: scope.describe("Limits of each user for all models together, over all keys and sessions of the user."),
    user_keys: mapping(() => ({
      max_per_project: z.int().min(0).max(1_000).default(20).describe("Keys that a user may have in one project."),
      max_lifetime_days: z
        .int()
        .min(1)
        .max(3_650)
        .optional()
        .describe("Longest time until a user's key expires. Not set: keys need not expire."),
    }))
      .prefault({})
      .describe("Keys that users create for themselves."),
    failed_authentications_per_minute: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .default(30)
      .describe(
        "Failed authentications within any 60 seconds from one IPv4 address or IPv6 /64 network, after which further attempts get a 429. Valid keys are still accepted.",
      ),
    on_counters_unavailable: z
      .enum(["share", "refuse", "admit"])
      .default("share")
      .describe(
        "What to do while the shared counters are unavailable. share: each replica enforces its share of every limit. refuse: return a 503. admit: enforce no limits.",
      ),
  }),
  "Rate limits. A limit that is not set does not apply.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    limits: z.output<typeof quotaSettings>;
  }
}
