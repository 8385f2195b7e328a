import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { KeyRules } from "../../openapi/project-policy-answers.ts";
import { EXPIRES_IN_SECONDS } from "./organization-api-keys.ts";
import { ModelPermissionsBody } from "./organization-model-permissions.ts";
import { SpendLimitBody } from "./organization-spend-limits.ts";

const MAX_KEYS = 1_000;

export const KeyRulesBody = named(
  "KeyRulesBody",
  lazy.strictObject(() => ({
    max_keys_per_user: z.int().min(1).max(MAX_KEYS).nullish().describe("Keys that a user may have in the project."),
    max_lifetime_seconds: EXPIRES_IN_SECONDS.nullish().describe("Time from the creation of a key to its expiry."),
    model_ids: ModelPermissionsBody.shape.model_ids
      .nullish()
      .describe("Models that keys of users may use: IDs, wildcards, and `group:` with the name of an access group."),
    max_spend_cents_per_month: SpendLimitBody.shape.threshold_amount
      .nullish()
      .describe("What each key may spend in a month, in US cents."),
  })),
);

interface Rules {
  maxKeysPerUser: number | null;
  maxLifetimeSeconds: number | null;
  modelIds: readonly string[] | null;
  spendLimitCents: number | null;
}

export function toKeyRules(rules: Rules): AnswerOf<typeof KeyRules> {
  return {
    object: "project.key_rules" as const,
    max_keys_per_user: rules.maxKeysPerUser,
    max_lifetime_seconds: rules.maxLifetimeSeconds,
    model_ids: rules.modelIds,
    max_spend_cents_per_month: rules.spendLimitCents,
  };
}

export function toKeyRulesDeleted(deleted: boolean) {
  return { object: "project.key_rules.deleted" as const, deleted };
}
