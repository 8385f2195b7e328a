/** Schemas of what projects and keys may do: rules, moderation, recording, guardrails and rate limits. */

import { z } from "zod";
import { guardrail } from "../../contracts/guardrail.ts";
import { lazy } from "../../kernel/lazy.ts";
import { describedBy } from "./described-by.ts";
import { listOfEntries } from "./list-answers.ts";
import { memberOf, named, toComponentName } from "./named.ts";

const count = z.int().min(0);

export const KeyRules = named(
  "KeyRules",
  lazy.object(() => ({
    object: z.literal("project.key_rules"),
    max_keys_per_user: z.int().nullable().describe("Null: as many as the configuration allows."),
    max_lifetime_seconds: z.int().nullable().describe("Null: as long as the configuration allows."),
    model_ids: z.array(z.string()).nullable().describe("Null: the models of the project."),
    max_spend_cents_per_month: z.int().nullable().describe("Per key. Null: unlimited."),
  })),
);

const direction = z.object({ mode: z.enum(["score", "block"]) }).nullable();
export const ModerationPolicy = named(
  "ModerationPolicy",
  lazy.object(() => ({
    object: z.literal("project.moderation_policy"),
    model: z.string().nullable(),
    policy: z.object({ input: direction, output: direction }),
    unsupported_language: z
      .object({ action: z.enum(["pass", "refuse", "model"]), model: z.string().nullable() })
      .nullable()
      .describe("For text in a language that the moderation model does not know. Null: pass."),
  })),
);

export const ProjectRecording = named(
  "ProjectRecording",
  lazy.object(() => ({
    object: z.literal("project.recording"),
    record_content: z.enum(["off", "errors", "all"]),
    share: z.number(),
    keep_days: z.int(),
    max_bytes: z.int(),
    redact: z.array(z.enum(["pii", "secrets"])),
    search: z.boolean(),
  })),
);

const WrittenGuardrail = named("Guardrail", guardrail);

export const ProjectGuardrails = named(
  "ProjectGuardrails",
  lazy.object(() => ({
    object: z.literal("project.guardrails"),
    guardrails: z
      .array(describedBy(z.looseObject({ type: z.string() }), WrittenGuardrail))
      .describe("In order; the moderation policy is the last. Fields are those of `guardrails` in parlance.yaml."),
  })),
);

export function spendLimit(of: "organization" | "project" | "api_key") {
  const object = `${of}.spend_limit` as const;
  return memberOf(toComponentName(object), () =>
    lazy.object(() => ({
      object: z.literal(object),
      currency: z.literal("USD"),
      interval: z.literal("month"),
      threshold_amount: z.int().min(1).describe("US cents."),
      enforcement: z.object({ status: z.enum(["enforcing", "inactive"]) }),
    })),
  );
}

export const RateLimit = named(
  "RateLimit",
  lazy.object(() => ({
    object: z.literal("project.rate_limit"),
    id: z.string(),
    model: z.string(),
    max_requests_per_1_minute: count,
    max_tokens_per_1_minute: count,
    max_requests_per_1_day: count,
    max_audio_megabytes_per_1_minute: count,
    max_images_per_1_minute: count,
    max_concurrent_requests: count,
  })),
);
export const RateLimitList = listOfEntries(RateLimit);
