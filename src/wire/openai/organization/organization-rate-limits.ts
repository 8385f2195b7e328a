import { createHash } from "node:crypto";
import { z } from "zod";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { RateLimit } from "../../openapi/project-policy-answers.ts";
import { PAGE_QUERY } from "./organization-list.ts";

/** Stands for unlimited, since every row has a number. Setting it removes a limit. */
const NO_LIMIT = 1_000_000_000;

const count = z.int().min(0).max(NO_LIMIT).optional();

export const RateLimitBody = named(
  "RateLimitBody",
  z.strictObject({
    max_requests_per_1_minute: count,
    max_requests_per_1_day: count,
    max_tokens_per_1_minute: count,
    max_audio_megabytes_per_1_minute: count,
    max_concurrent_requests: count,
    max_images_per_1_minute: count,
    batch_1_day_max_input_tokens: count,
  }),
);

export const RateLimitListQuery = lazy.strictObject(() => ({ ...PAGE_QUERY, before: z.string().min(1).optional() }));

interface Limits {
  requestsPerMinute?: number | null | undefined;
  requestsPerDay?: number | null | undefined;
  tokensPerMinute?: number | null | undefined;
  audioMegabytesPerMinute?: number | null | undefined;
  imagesPerMinute?: number | null | undefined;
  concurrentRequests?: number | null | undefined;
}

/** Returns the limits that the body sets. Throws a Fault for limits on operations that Parlance does not have. */
export function toLimitsChange(body: z.output<typeof RateLimitBody>) {
  const field = "batch_1_day_max_input_tokens";
  if (body[field] !== undefined)
    throw unsupportedValue(`'${field}' is not supported: Parlance has no such limit. Leave it out.`, field);
  const change = {
    requestsPerMinute: body.max_requests_per_1_minute,
    requestsPerDay: body.max_requests_per_1_day,
    tokensPerMinute: body.max_tokens_per_1_minute,
    audioMegabytesPerMinute: body.max_audio_megabytes_per_1_minute,
    imagesPerMinute: body.max_images_per_1_minute,
    concurrentRequests: body.max_concurrent_requests,
  };
  const changes = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(changes) as { [Name in keyof typeof change]?: number };
}

export function toRateLimit(projectId: string, model: string, limits: Limits): AnswerOf<typeof RateLimit> {
  return {
    object: "project.rate_limit" as const,
    id: `rl_${createHash("sha256").update(`${projectId}\n${model}`).digest("hex").slice(0, 24)}`,
    model,
    max_requests_per_1_minute: limits.requestsPerMinute ?? NO_LIMIT,
    max_tokens_per_1_minute: limits.tokensPerMinute ?? NO_LIMIT,
    max_requests_per_1_day: limits.requestsPerDay ?? NO_LIMIT,
    max_audio_megabytes_per_1_minute: limits.audioMegabytesPerMinute ?? NO_LIMIT,
    max_images_per_1_minute: limits.imagesPerMinute ?? NO_LIMIT,
    max_concurrent_requests: limits.concurrentRequests ?? NO_LIMIT,
  };
}
