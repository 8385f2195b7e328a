/** Schema of the quota limits in parlance.yaml. */

import { z } from "zod";

export interface LimitsConfig {
  requestsPerMinute: number | undefined;
  requestsPerDay: number | undefined;
  tokensPerMinute: number | undefined;
  audioMegabytesPerMinute: number | undefined;
  concurrentRequests: number | undefined;
}

const count = z.int().min(0).max(1_000_000_000);

const one = z
  .strictObject({
    requests_per_minute: count.optional().describe("Requests within any 60 seconds."),
    requests_per_day: count.optional().describe("Requests within any 24 hours."),
    tokens_per_minute: count
      .optional()
      .describe("Prompt and completion tokens within any 60 seconds (chat, embedding, moderation)."),
    audio_megabytes_per_minute: count
      .optional()
      .describe("Megabytes (1,000,000 bytes) of uploaded audio within any 60 seconds (transcription)."),
    concurrent_requests: count.optional().describe("Concurrent requests."),
  })
  .prefault({});

export const limits = z
  .strictObject({
    project_model: one.describe(
      "Limits of each project for each model. Administrators can override them per project and model.",
    ),
    organization: one.describe("Limits of each organization for all models together."),
    key: one.describe("Limits of each API key for all models together."),
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
  })
  .describe("Rate limits. A limit that is not set does not apply.");

export function toLimits(written: z.output<typeof one>): LimitsConfig {
  return {
    requestsPerMinute: written.requests_per_minute,
    requestsPerDay: written.requests_per_day,
    tokensPerMinute: written.tokens_per_minute,
    audioMegabytesPerMinute: written.audio_megabytes_per_minute,
    concurrentRequests: written.concurrent_requests,
  };
}
