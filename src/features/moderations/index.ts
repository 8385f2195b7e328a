/** What other features may use. */

export {
  deleteModerationPolicy,
  findModerationPoliciesOf,
  type ProjectModeration,
  putModerationPolicy,
  toProjectModeration,
} from "./moderation-policy.ts";
