/** Which requests of the history somebody asks for. */

import { type RawBuilder, sql } from "kysely";
import { isVisible, type Visibility } from "./visibility.ts";

export interface RequestFilter {
  organizationId: string;
  /** Undefined: everything in the organization. */
  visibility?: Visibility | undefined;
  projectIds?: readonly string[] | undefined;
  keyIds?: readonly string[] | undefined;
  models?: readonly string[] | undefined;
  operations?: readonly string[] | undefined;
  deployments?: readonly string[] | undefined;
  /** End users, which only requests with this label have. */
  endUsers?: readonly string[] | undefined;
  /** True: status 400 and above; false: below. */
  isFailed?: boolean | undefined;
  /** Epoch milliseconds of the end: from, and before. */
  from?: number | undefined;
  until?: number | undefined;
  minDurationMilliseconds?: number | undefined;
  minCostNanoDollars?: number | undefined;
}

/** Conditions of a filter except the times, which bound the rows that are read. */
export function matches(filter: RequestFilter): RawBuilder<boolean> {
  return sql<boolean>`${ofDimension(filter)} and ${ofRow(filter)}`;
}

/** Conditions on columns of the request itself. */
export function ofRow({ endUsers, minDurationMilliseconds, minCostNanoDollars }: RequestFilter): RawBuilder<boolean> {
  const conditions: RawBuilder<unknown>[] = [sql`1 = 1`];
  if (endUsers !== undefined) {
    const ofEndUser = endUsers.map((endUser) => {
      const field = `"endUser":${JSON.stringify(endUser)}`;
      // Both databases have `replace`, unlike functions that find a text or read JSON.
      return sql`replace(${sql.ref("details")}, ${field}, '') <> ${sql.ref("details")}`;
    });
    conditions.push(sql`(${sql.join([sql`1 = 0`, ...ofEndUser], sql` or `)})`);
  }
  if (minDurationMilliseconds !== undefined) {
    conditions.push(sql`${sql.ref("durationMilliseconds")} >= ${minDurationMilliseconds}`);
  }
  if (minCostNanoDollars !== undefined) {
    conditions.push(sql`${sql.ref("costNanoDollars")} >= ${minCostNanoDollars}`);
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** As `hasFailed`. */
export const FAILED: RawBuilder<boolean> = sql`(status >= 400 or error is not null)`;

/** Conditions on columns that requests share. */
export function ofDimension(filter: RequestFilter): RawBuilder<boolean> {
  const { projectIds, keyIds, models, operations, deployments, isFailed } = filter;
  const lists = [
    ["projectId", projectIds],
    ["keyId", keyIds],
    ["model", models],
    ["operation", operations],
    ["deployment", deployments],
  ] as const;
  const conditions = lists.flatMap(([column, values]) => {
    if (values === undefined) return [];
    return values.length === 0 ? [sql`1 = 0`] : [sql`${sql.ref(column)} in (${sql.join(values)})`];
  });
  if (filter.visibility !== undefined) conditions.push(isVisible(filter.visibility));
  if (isFailed !== undefined) conditions.push(isFailed ? FAILED : sql`not ${FAILED}`);
  return conditions.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}
