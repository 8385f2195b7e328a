/** Reads usage per time bucket, summed by the requested groups. */

import { type RawBuilder, sql } from "kysely";
import { MINUTE_MS, MINUTE_SECONDS } from "../../kernel/durations.ts";
import type { RecordedUsage } from "../../kernel/usage.ts";
import type { Executor } from "../../storage/database.ts";
import type { UsageDimensionRow } from "../../storage/schema.ts";
import { AMOUNTS } from "./usage-batch.ts";
import { ROLLUP_COLUMNS } from "./usage-rollup.ts";
import { isVisible, type Visibility } from "./visibility.ts";

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
  /** Undefined: everything in the organization. */
  visibility?: Visibility | undefined;
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
  const groups = query.groupBy.map((group) => sql.ref(`dimension.${group}`));
  const grouped = sql.join([sql.ref("used.beginsAt"), ...groups]);
  const sums = [...SUMMED, "requests"].map(
    (name) => sql`cast(sum(${sql.ref(`used.${name}`)}) as bigint) as ${sql.ref(name)}`,
  );
  const conditions = [
    sql`${sql.ref("dimension.organizationId")} = ${query.organizationId}`,
    ...(query.operation === undefined ? [] : [oneOf("operation", [query.operation])]),
    ...(query.visibility === undefined ? [] : [isVisible(query.visibility)]),
    ...(query.projectIds === undefined ? [] : [oneOf("projectId", query.projectIds)]),
    ...(query.keyIds === undefined ? [] : [oneOf("keyId", query.keyIds)]),
    ...(query.models === undefined ? [] : [oneOf("model", query.models)]),
  ];
  const { rows } = await sql<UsageSum>`
    select ${grouped}, ${sql.join(sums)}
    from (${bucketsOf(query)}) as used
    join ${sql.table("usageDimensions")} as dimension on dimension.id = ${sql.ref("used.dimensionId")}
    where ${sql.join(conditions, sql` and `)}
    group by ${grouped}
    order by ${grouped}
  `.execute(executor);
  return rows;
}

function bucketsOf({ bucketSeconds, from, until }: UsageQuery): RawBuilder<unknown> {
  const columns = sql.join([...ROLLUP_COLUMNS.filter((name) => name !== "bucketSeconds")].map((name) => sql.ref(name)));
  const rollups = sql`select ${columns} from ${sql.table("usageRollups")}
    where ${sql.ref("bucketSeconds")} = ${bucketSeconds} and ${sql.ref("beginsAt")} >= ${from}
      and ${sql.ref("beginsAt")} < ${until}`;
  if (bucketSeconds !== MINUTE_SECONDS) return rollups;
  // Versions before 0.2 recorded single requests and no minutes. Both databases divide integers to integers.
  const minute = sql`(${sql.ref("at")} / ${sql.lit(MINUTE_MS)}) * ${sql.lit(MINUTE_MS)}`;
  const amounts = sql.join([sql.ref("dimensionId"), ...SUMMED.map((name) => sql.ref(name))]);
  return sql`${rollups} union all select ${minute}, ${amounts}, 1 from ${sql.table("usageRecords")}
    where at >= ${from} and at < ${until}`;
}

function oneOf(column: keyof UsageDimensionRow, values: readonly string[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(`dimension.${column}`)} in (${sql.join(values)})`;
}
