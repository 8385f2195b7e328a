/** Reads usage per time bucket, summed by the requested groups. */

import { type RawBuilder, sql } from "kysely";
import { MINUTE_MS, MINUTE_SECONDS } from "../../kernel/durations.ts";
import type { RecordedDetails, RecordedUsage } from "../../kernel/usage.ts";
import type { Executor } from "../../storage/database.ts";
import type { ShownSum } from "../../wire/openai/organization/organization-usage-pages.ts";
import { AMOUNTS, COSTS } from "./usage-batch.ts";
import { ROLLUP_COLUMNS } from "./usage-rollup.ts";
import type { UsageDimensionRow, UsageLabelRow } from "./usage-rows.ts";
import { isVisible, type Visibility } from "./visibility.ts";

/** `label`: the value of labels of the query's kind. */
type UsageGroup = (typeof COLUMNS)[number] | "userId" | "apiSource" | "label";
const COLUMNS = [
  ...(["projectId", "keyId", "model", "deployment", "operation", "serviceTier", "isBatch"] as const),
  ...(["imageSource", "imageSize"] as const),
] as const;

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
  userIds?: readonly string[] | undefined;
  imageSources?: readonly string[] | undefined;
  imageSizes?: readonly string[] | undefined;
  isBatch?: boolean | undefined;
  /** Only requests with labels of this kind, in buckets of hours or days; a request with several is in the sum of each. */
  labelKind?: UsageLabelRow["kind"] | undefined;
  /** Values of the labels; undefined: all. */
  labels?: readonly string[] | undefined;
}

export interface UsageSum extends RecordedUsage, RecordedDetails, ShownSum {
  /** Start of the bucket, epoch milliseconds. */
  beginsAt: number;
}

const SUMMED = [...AMOUNTS, ...COSTS] as const;
/** Columns that single requests of versions before 0.2 have, too. */
const RECORDED: ReadonlySet<string> = new Set<keyof RecordedUsage>([
  ...(["promptTokens", "cachedTokens", "completionTokens", "reasoningTokens", "characters"] as const),
  ...(["audioMilliseconds", "costNanoDollars"] as const),
]);

/** Omits empty buckets. Sorts by time, then by group. */
export async function readUsage(executor: Executor, query: UsageQuery): Promise<UsageSum[]> {
  const { labelKind } = query;
  const selected = query.groupBy.map((group) => sql`${expressionOf(group)} as ${sql.ref(group)}`);
  // By their position: a group may be a query.
  const grouped = sql.join([1, ...query.groupBy.keys().map((index) => index + 2)].map((position) => sql.lit(position)));
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
    ...(query.userIds === undefined ? [] : [isOneOf(USER, query.userIds)]),
    ...(query.imageSources === undefined ? [] : [oneOf("imageSource", query.imageSources)]),
    ...(query.imageSizes === undefined ? [] : [oneOf("imageSize", query.imageSizes)]),
    ...(query.isBatch === undefined ? [] : [sql`${sql.ref("dimension.isBatch")} = ${Number(query.isBatch)}`]),
    ...(labelKind === undefined ? [] : [sql`${sql.ref("label.kind")} = ${labelKind}`]),
    ...(query.labels === undefined ? [] : [oneOfLabels(query.labels)]),
  ];
  const { rows } = await sql<UsageSum>`
    select ${sql.join([sql.ref("used.beginsAt"), ...selected])}, ${sql.join(sums)}
    from (${bucketsOf(query)}) as used
    ${labelKind === undefined ? sql`` : sql`join ${sql.table("usageLabels")} as label on label.id = ${sql.ref("used.labelId")}`}
    join ${sql.table("usageDimensions")} as dimension on dimension.id = ${sql.ref("used.dimensionId")}
    where ${sql.join(conditions, sql` and `)}
    group by ${grouped}
    order by ${grouped}
  `.execute(executor);
  return rows;
}

/** Rows that one query sums: some 5 ms on SQLite, which blocks the event loop meanwhile. */
const MAX_ROWS_SUMMED = 5000;

/** Returns the end of the first buckets of a query that have a few thousand rows together, one bucket at least. */
export async function readSliceEnd(executor: Executor, query: UsageQuery): Promise<number> {
  const { bucketSeconds, from, until, labelKind } = query;
  const within = (column: "at" | "beginsAt") => sql`${sql.ref(column)} >= ${from} and ${sql.ref(column)} < ${until}
    order by ${sql.ref(column)} limit 1 offset ${sql.lit(MAX_ROWS_SUMMED)}`;
  const rollups = sql.table(labelKind === undefined ? "usageRollups" : "usageLabelRollups");
  const beyond = [
    sql`select ${sql.ref("beginsAt")} as at from ${rollups} where ${sql.ref("bucketSeconds")} = ${bucketSeconds}
      and ${within("beginsAt")}`,
  ];
  if (hasRecords(query)) beyond.push(sql`select at from ${sql.table("usageRecords")} where ${within("at")}`);
  let end = until;
  const width = bucketSeconds * 1000;
  for (const each of beyond) {
    const { rows } = await sql<{ at: number }>`${each}`.execute(executor);
    for (const { at } of rows) end = Math.min(end, Math.max(from + width, Math.floor(at / width) * width));
  }
  return end;
}

/** Decides whether rows of single requests belong to a report: versions before 0.2 recorded those and no minutes. */
function hasRecords({ bucketSeconds, labelKind }: UsageQuery): boolean {
  return bucketSeconds === MINUTE_SECONDS && labelKind === undefined;
}

function bucketsOf(query: UsageQuery): RawBuilder<unknown> {
  const { bucketSeconds, from, until, labelKind } = query;
  const ofLabels = labelKind !== undefined;
  const columns = sql.join(
    [...(ofLabels ? ["labelId"] : []), ...ROLLUP_COLUMNS.filter((name) => name !== "bucketSeconds")].map((name) =>
      sql.ref(name),
    ),
  );
  const rollups = sql`select ${columns} from ${sql.table(ofLabels ? "usageLabelRollups" : "usageRollups")}
    where ${sql.ref("bucketSeconds")} = ${bucketSeconds} and ${sql.ref("beginsAt")} >= ${from}
      and ${sql.ref("beginsAt")} < ${until}`;
  if (!hasRecords(query)) return rollups;
  // Both databases divide integers to integers.
  const minute = sql`(${sql.ref("at")} / ${sql.lit(MINUTE_MS)}) * ${sql.lit(MINUTE_MS)}`;
  const missing = (name: string) => ((COSTS as readonly string[]).includes(name) ? sql`cast(null as bigint)` : sql`0`);
  const amounts = sql.join([
    sql.ref("dimensionId"),
    ...SUMMED.map((name) => (RECORDED.has(name) ? sql.ref(name) : missing(name))),
  ]);
  return sql`${rollups} union all select ${minute}, ${amounts}, 1 from ${sql.table("usageRecords")}
    where at >= ${from} and at < ${until}`;
}

/** User of the key, or of the session, whose usage has the ID of the user as its key. */
const USER = sql`(select coalesce(
    (select ${sql.ref("apiKeys.userId")} from ${sql.table("apiKeys")} where ${sql.ref("apiKeys.id")} = ${sql.ref("dimension.keyId")}),
    (select ${sql.ref("users.id")} from ${sql.table("users")} where ${sql.ref("users.id")} = ${sql.ref("dimension.keyId")})
  ))`;

function expressionOf(group: UsageGroup): RawBuilder<unknown> {
  switch (group) {
    case "label":
      return sql.ref("label.value");
    case "userId":
      return USER;
    case "apiSource":
      // No other API of OpenAI than its Agents API has a source.
      return sql`cast('unlabeled' as text)`;
    default:
      return sql.ref(`dimension.${group}`);
  }
}

function isOneOf(expression: RawBuilder<unknown>, values: readonly string[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`1 = 0` : sql`${expression} in (${sql.join(values)})`;
}

function oneOfLabels(values: readonly string[]): RawBuilder<unknown> {
  return isOneOf(sql.ref("label.value"), values);
}

function oneOf(column: keyof UsageDimensionRow, values: readonly string[]): RawBuilder<unknown> {
  return isOneOf(sql.ref(`dimension.${column}`), values);
}
