/** Reads usage per time bucket, summed by the requested groups. */

import { type RawBuilder, sql } from "kysely";
import type { RecordedUsage } from "../../kernel/usage.ts";
import type { Executor } from "../../storage/database.ts";
import type { UsageDimensionRow } from "../../storage/schema.ts";
import { AMOUNTS } from "./usage-batch.ts";

type UsageGroup = "projectId" | "keyId" | "model" | "operation";

export interface UsageQuery {
  organizationId: string;
  /** Undefined: all. */
  operation: UsageDimensionRow["operation"] | undefined;
  /** Epoch milliseconds: multiples of the bucket's width, the second exclusive. */
  from: number;
  until: number;
  bucketSeconds: 60 | 3600 | 86_400;
  groupBy: readonly UsageGroup[];
  projectIds?: readonly string[] | undefined;
  keyIds?: readonly string[] | undefined;
  models?: readonly string[] | undefined;
}

export interface UsageSum extends RecordedUsage {
  /** Start of the bucket, epoch milliseconds. */
  beginsAt: number;
  requests: number;
  /** Undefined unless grouped by it. */
  projectId?: string;
  keyId?: string;
  model?: string;
  operation?: string;
}

const SUMMED = [...AMOUNTS, "costNanoDollars"] as const satisfies (keyof RecordedUsage)[];

/** Omits empty buckets. Sorts by time, then by group. */
export async function readUsage(executor: Executor, query: UsageQuery): Promise<UsageSum[]> {
  const isByMinute = query.bucketSeconds === 60;
  const table = sql.table(isByMinute ? "usageRecords" : "usageRollups");
  const time = isByMinute ? sql.ref("used.at") : sql.ref("used.beginsAt");
  // Both databases divide integers to integers.
  const beginsAt = isByMinute ? sql`(${time} / 60000) * 60000` : time;
  const groups = query.groupBy.map((group) => sql.ref(`dimension.${group}`));
  const grouped = sql.join([beginsAt, ...groups]);
  const sums = SUMMED.map((name) => sql`cast(sum(${sql.ref(`used.${name}`)}) as bigint) as ${sql.ref(name)}`);
  const requests = isByMinute ? sql`count(*)` : sql`sum(${sql.ref("used.requests")})`;
  const columns = sql.join([
    sql`${beginsAt} as ${sql.ref("beginsAt")}`,
    ...groups,
    sql`cast(${requests} as bigint) as ${sql.ref("requests")}`,
    ...sums,
  ]);
  const width = isByMinute ? [] : [sql`${sql.ref("used.bucketSeconds")} = ${query.bucketSeconds}`];
  const conditions = [
    ...width,
    sql`${time} >= ${query.from} and ${time} < ${query.until}`,
    sql`${sql.ref("dimension.organizationId")} = ${query.organizationId}`,
    ...(query.operation === undefined ? [] : [oneOf("operation", [query.operation])]),
    ...(query.projectIds === undefined ? [] : [oneOf("projectId", query.projectIds)]),
    ...(query.keyIds === undefined ? [] : [oneOf("keyId", query.keyIds)]),
    ...(query.models === undefined ? [] : [oneOf("model", query.models)]),
  ];
  const { rows } = await sql<UsageSum>`
    select ${columns}
    from ${table} as used
    join ${sql.table("usageDimensions")} as dimension on dimension.id = ${sql.ref("used.dimensionId")}
    where ${sql.join(conditions, sql` and `)}
    group by ${grouped}
    order by ${grouped}
  `.execute(executor);
  return rows;
}

function oneOf(column: keyof UsageDimensionRow, values: readonly string[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(`dimension.${column}`)} in (${sql.join(values)})`;
}
