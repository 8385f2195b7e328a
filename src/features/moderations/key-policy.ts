import { projectKeyPolicy } from "../accounts/index.ts";
import { type ProjectModeration, toProjectModeration } from "./moderation-policy-service.ts";
import { findModerationPoliciesOf } from "./policy-queries.ts";
import type { ModerationPolicyRow } from "./policy-rows.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Moderation policy of the project, if it has one. */
    moderation: ProjectModeration | undefined;
  }
}

export const moderationKeyPolicy = projectKeyPolicy<ModerationPolicyRow, ProjectModeration | undefined>(
  undefined,
  findModerationPoliciesOf,
  (rows) => rows.map(toProjectModeration)[0],
);
