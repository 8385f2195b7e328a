/** What an organization and its projects let the service keep of requests. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";

/** Types that the service can keep to, from the least to the most strict. */
export const RETENTIONS = ["none", "modified_abuse_monitoring", "zero_data_retention"] as const;

export type Retention = (typeof RETENTIONS)[number];

/** Types of OpenAI that promise more than the service can do. */
export const UNSUPPORTED_RETENTIONS = ["enhanced_zero_data_retention", "enhanced_modified_abuse_monitoring"] as const;

export const ORGANIZATION_DEFAULT = "organization_default";

export const RetentionSettings = z.enum(RETENTIONS);

const EFFECT =
  "none: requests are recorded and stored as projects and callers ask. modified_abuse_monitoring: nothing is recorded but what callers store. zero_data_retention: nothing is stored for callers, either.";
const unsupported = z.enum(UNSUPPORTED_RETENTIONS);

export const OrganizationDataRetentionBody = named(
  "OrganizationDataRetentionBody",
  lazy.strictObject(() => ({ retention_type: z.union([RetentionSettings, unsupported]).describe(EFFECT) })),
);

export const ProjectDataRetentionBody = named(
  "ProjectDataRetentionBody",
  lazy.strictObject(() => ({
    retention_type: z
      .union([z.literal(ORGANIZATION_DEFAULT), RetentionSettings, unsupported])
      .describe(`organization_default: that of the organization. ${EFFECT}`),
  })),
);

export const OrganizationDataRetention = named(
  "OrganizationDataRetention",
  lazy.object(() => ({
    object: z.literal("organization.data_retention"),
    type: RetentionSettings.describe("`none`, which OpenAI's organizations do not have, is the default."),
  })),
);

export const ProjectDataRetention = named(
  "ProjectDataRetention",
  lazy.object(() => ({
    object: z.literal("project.data_retention"),
    type: z.union([z.literal(ORGANIZATION_DEFAULT), RetentionSettings]),
  })),
);

export type ProjectRetention = Retention | typeof ORGANIZATION_DEFAULT;

export function toOrganizationDataRetention(type: Retention): AnswerOf<typeof OrganizationDataRetention> {
  return { object: "organization.data_retention" as const, type };
}

export function toProjectDataRetention(type: ProjectRetention): AnswerOf<typeof ProjectDataRetention> {
  return { object: "project.data_retention" as const, type };
}
