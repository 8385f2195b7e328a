/** Reads what was spent, for limits and budgets: from the sums of UTC days. */

import { type RawBuilder, sql } from "kysely";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import type { SpendScope, SpendWindow } from "../quota/index.ts";
import { isVisible } from "./visibility.ts";

/** Returns nano-dollars that a scope has spent in a window. */
export async function readSpent(executor: Executor, scope: SpendScope, window: SpendWindow): Promise<number> {
  const { rows } = await sql<{ spent: number | null }>`
    select cast(sum(${sql.ref("used.costNanoDollars")}) as bigint) as spent from ${daysOf(scope.subject)}
    where ${sql.join([...conditionsOf(scope, window), isOf(scope)], sql` and `)}
  `.execute(executor);
  return rows[0]?.spent ?? 0;
}

export interface SubjectSpend {
  id: string;
  spent: number;
}

/** Returns the subjects that have spent most in a window, and nano-dollars of each. */
export async function readTopSpenders(
  executor: Executor,
  scope: Omit<SpendScope, "id">,
  window: SpendWindow,
  { minNanoDollars, limit }: { minNanoDollars: number; limit: number },
): Promise<SubjectSpend[]> {
  const id = idOf(scope.subject);
  const spent = sql`cast(sum(${sql.ref("used.costNanoDollars")}) as bigint)`;
  const { rows } = await sql<SubjectSpend>`
    select ${id} as id, ${spent} as spent from ${daysOf(scope.subject)}
    ${scope.subject === "user" || scope.subject === "api_key" ? JOIN_KEYS : sql``}
    where ${sql.join([...conditionsOf(scope, window), sql`${id} is not null`], sql` and `)}
    group by ${id} having ${spent} >= ${minNanoDollars}
    order by spent desc, id limit ${limit}
  `.execute(executor);
  return rows;
}

const JOIN_KEYS = sql`left join ${sql.table("apiKeys")} as key on key.id = ${sql.ref("dimension.keyId")}
  left join users on users.id = ${sql.ref("dimension.keyId")}`;

function isLabel(subject: SpendScope["subject"]): boolean {
  return subject === "end_user" || subject === "tag";
}

function daysOf(subject: SpendScope["subject"]): RawBuilder<unknown> {
  const dimensions = sql`join ${sql.table("usageDimensions")} as dimension
    on dimension.id = ${sql.ref("used.dimensionId")}`;
  if (!isLabel(subject)) return sql`${sql.table("usageRollups")} as used ${dimensions}`;
  return sql`${sql.table("usageLabels")} as label
    join ${sql.table("usageLabelRollups")} as used on ${sql.ref("used.labelId")} = label.id ${dimensions}`;
}

function conditionsOf({ organizationId, projectId, subject }: Omit<SpendScope, "id">, { from, until }: SpendWindow) {
  return [
    sql`${sql.ref("used.bucketSeconds")} = ${DAY_SECONDS}`,
    sql`${sql.ref("used.beginsAt")} >= ${from} and ${sql.ref("used.beginsAt")} < ${until}`,
    sql`${sql.ref("dimension.organizationId")} = ${organizationId}`,
    ...(projectId === null ? [] : [sql`${sql.ref("dimension.projectId")} = ${projectId}`]),
    ...(isLabel(subject)
      ? [sql`${sql.ref("label.organizationId")} = ${organizationId} and ${sql.ref("label.kind")} = ${subject}`]
      : []),
  ];
}

function isOf({ subject, id }: SpendScope): RawBuilder<unknown> {
  switch (subject) {
    case "organization":
      return sql`1 = 1`;
    case "user":
      return isVisible({ projectIds: [], userId: id });
    case "api_key":
      return sql`${sql.ref("dimension.keyId")} in (${keysInLineOf(id)})`;
    default:
      return sql`${idOf(subject)} = ${id}`;
  }
}

/** Keys that replaced each other, of which `id` is one. */
function keysInLineOf(id: string): RawBuilder<unknown> {
  const root = sql`(select coalesce(root_key_id, id) from ${sql.table("apiKeys")} where id = ${id})`;
  return sql`select cast(${id} as text) union
    select id from ${sql.table("apiKeys")} where id = ${root} or root_key_id = ${root}`;
}

function idOf(subject: SpendScope["subject"]): RawBuilder<unknown> {
  const columns = {
    organization: sql.ref("dimension.organizationId"),
    project: sql.ref("dimension.projectId"),
    api_key: sql`coalesce(key.root_key_id, ${sql.ref("dimension.keyId")})`,
    // Usage in a session of a user has the ID of the user as its key.
    user: sql`coalesce(key.user_id, users.id)`,
    end_user: sql.ref("label.value"),
    tag: sql.ref("label.value"),
  };
  return columns[subject];
}
