/** What other features may use. */

export type { RequestFilter, RequestHistory } from "./request-history.ts";
export { filterOf, REPORT, showsCauses } from "./request-routes.ts";
export { hasFailed } from "./request-rows.ts";
export type { SubjectSpend } from "./spent-queries.ts";
export { type UsageLabel, type UsageRecord, UsageRows } from "./usage-batch.ts";
export { readLastBatch, writeUsage } from "./usage-queries.ts";
export type { UsageStorage } from "./usage-storage.ts";
export { isVisible, type Visibility, visibilityOf } from "./visibility.ts";
