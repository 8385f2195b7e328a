/** What other features may use. */

export { type ProjectModeration, toModerationRow, toProjectModeration } from "./moderation-policy-service.ts";
export { deleteModerationPolicy, findModerationPoliciesOf, putModerationPolicy } from "./policy-queries.ts";
