/** Which service tiers of upstreams a project may use. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";

const defaultTier = z
  .enum(["standard", "fast", "scale"])
  .describe("For requests without `service_tier` and with `auto`. standard: as the request says.");
const enabledTiers = z
  .union([z.literal("all"), listOf(z.enum(["flex", "fast", "ultrafast"])).max(3)])
  .describe("Besides the standard tier and the default; `all`: also tiers that come.");

export const ServiceTierSettings = z.object({ default: defaultTier, enabled_tiers: enabledTiers });
export type ServiceTierSettings = z.output<typeof ServiceTierSettings>;

/** What applies without settings. */
export const ALL_SERVICE_TIERS: ServiceTierSettings = { default: "standard", enabled_tiers: "all" };

export const ServiceTierSettingsBody = named(
  "ServiceTierSettingsBody",
  lazy
    .strictObject(() => ({ default: defaultTier.optional(), enabled_tiers: enabledTiers.optional() }))
    .refine((body) => body.default !== undefined || body.enabled_tiers !== undefined, {
      error: "it needs default, enabled_tiers, or both",
    }),
);

export const ProjectServiceTierSettings = named(
  "ProjectServiceTierSettings",
  lazy.object(() => ({
    object: z.literal("project.service_tier_settings"),
    default: defaultTier,
    enabled_tiers: enabledTiers,
  })),
);

export function toServiceTierSettings(settings: ServiceTierSettings): AnswerOf<typeof ProjectServiceTierSettings> {
  return { object: "project.service_tier_settings" as const, ...settings };
}
