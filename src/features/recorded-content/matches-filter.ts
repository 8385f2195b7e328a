import type { RequestEntry } from "../../http/request-entry.ts";
import { hasFailed, type RequestFilter } from "../usage/index.ts";

/** Whether a filter of the request history matches an entry, except for the organization and the visibility. */
export function matchesFilter(entry: RequestEntry, filter: RequestFilter): boolean {
  const { projectIds, keyIds, models, operations, deployments, endUsers, isFailed } = filter;
  const { from = 0, until = Number.POSITIVE_INFINITY, minDurationMilliseconds = 0, minCostNanoDollars = 0 } = filter;
  const isIn = (list: readonly string[] | undefined, value: string | null | undefined) =>
    list === undefined || (value != null && list.includes(value));
  return (
    isIn(projectIds, entry.projectId) &&
    isIn(keyIds, entry.keyId) &&
    isIn(models, entry.model) &&
    isIn(operations, entry.operation) &&
    isIn(deployments, entry.deployment) &&
    isIn(endUsers, entry.details?.endUser) &&
    (isFailed === undefined || isFailed === hasFailed(entry)) &&
    entry.at >= from &&
    entry.at < until &&
    entry.durationMilliseconds >= minDurationMilliseconds &&
    (entry.costNanoDollars ?? 0) >= minCostNanoDollars
  );
}
