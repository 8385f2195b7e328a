/** What callers may use, as parlance.yaml writes it. */

import { z } from "zod";
import type { LimitsConfig } from "./config.ts";

const count = z.int().min(0).max(1_000_000_000);

const one = z
  .strictObject({
    requests_per_minute: count.optional().describe("Requests in any 60 seconds."),
    requests_per_day: count.optional().describe("Requests in any 24 hours."),
    tokens_per_minute: count.optional().describe("Tokens read and written in any 60 seconds (chat, moderation)."),
    audio_megabytes_per_minute: count
      .optional()
      .describe("Megabytes of recordings in any 60 seconds (transcription), of 1,000,000 bytes."),
    concurrent_requests: count.optional().describe("Requests that run at once."),
  })
  .prefault({});

export const limits = z
  .strictObject({
    project_model: one.describe("Each project, of each model; an administrator may set others for one of them."),
    organization: one.describe("Each organization, of all models together."),
    key: one.describe("Each API key, of all models together."),
    failed_authentications_per_minute: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .default(30)
      .describe(
        "Wrong keys in any 60 seconds from one IPv4 address or IPv6 network (/64); then 429. A right key passes.",
      ),
    when_counters_away: z
      .enum(["share", "refuse", "admit"])
      .default("share")
      .describe(
        "What holds while the counters that replicas share cannot be reached. share: each replica keeps to its share of every limit; refuse: 503; admit: no limit.",
      ),
  })
  .describe("How much may be used. What is left out is not limited.");

export function toLimits(written: z.output<typeof one>): LimitsConfig {
  return {
    requestsPerMinute: written.requests_per_minute,
    requestsPerDay: written.requests_per_day,
    tokensPerMinute: written.tokens_per_minute,
    audioMegabytesPerMinute: written.audio_megabytes_per_minute,
    concurrentRequests: written.concurrent_requests,
  };
}
