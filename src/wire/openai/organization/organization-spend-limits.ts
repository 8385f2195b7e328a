import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { named } from "../../openapi/named.ts";

/** One billion dollars. */
const MAX_CENTS = 100_000_000_000;

export const SpendLimitBody = named(
  "SpendLimitBody",
  lazy.strictObject(() => ({
    currency: z.literal("USD"),
    interval: z.literal("month"),
    threshold_amount: z.int().min(1).max(MAX_CENTS),
    /** Extension to OpenAI's API; `inactive` only logs a warning. */
    enforcement: z.strictObject({ status: z.enum(["enforcing", "inactive"]) }).optional(),
  })),
);

export type SpendLimitOwnerKind = "organization" | "project" | "api_key";

export function toSpendLimit<Of extends SpendLimitOwnerKind>(
  owner: Of,
  limit: { thresholdCents: number; isEnforcing: number },
) {
  return {
    object: `${owner}.spend_limit` as const,
    currency: "USD" as const,
    interval: "month" as const,
    threshold_amount: limit.thresholdCents,
    enforcement: { status: limit.isEnforcing === 1 ? ("enforcing" as const) : ("inactive" as const) },
  };
}

export function toSpendLimitDeleted<Of extends SpendLimitOwnerKind>(owner: Of, deleted: boolean) {
  return { object: `${owner}.spend_limit.deleted` as const, deleted };
}
