/** Which deliveries to endpoints of projects are next. */

import { type RawBuilder, sql } from "kysely";

/**
 * Endpoints of a project that are attempted at the same time, each with one delivery: slow ones delay events of their own
 * project only.
 */
const ENDPOINTS_AT_ONCE_PER_PROJECT = 20;

export interface DueDeliveries {
  /** The database's time. */
  now: RawBuilder<unknown>;
  /** Endpoints of the deliveries that run. */
  busy: readonly string[];
  /** Endpoints that are not attempted now. */
  resting: readonly string[];
  limit: number;
}

/**
 * Selects the IDs of at most `limit` deliveries: of each endpoint the one that has been due longest, and those of the
 * projects first that have the fewest under way. Reads a row of the index for each endpoint, however much waits for it.
 */
export function firstDueDeliveries({ now, busy, resting, limit }: DueDeliveries): RawBuilder<unknown> {
  const list = busy.length === 0 ? sql`null` : sql.join(busy);
  const out = [...busy, ...resting];
  const others = out.length === 0 ? sql`1 = 1` : sql`waiting.endpoint not in (${sql.join(out)})`;
  return sql`with recursive
    waiting(endpoint) as (
      select min(endpoint) from webhook_deliveries
      union all
      select (select min(endpoint) from webhook_deliveries where endpoint > waiting.endpoint)
      from waiting where waiting.endpoint is not null
    ),
    under_way as (
      select project_id, count(*) as endpoints from webhook_endpoints where id in (${list}) group by project_id
    ),
    first_due as (
      select project_id,
        (select min(due_at) from webhook_deliveries where endpoint = waiting.endpoint) as due_at,
        (select id from webhook_deliveries where endpoint = waiting.endpoint order by due_at limit 1) as id
      from waiting left join webhook_endpoints on webhook_endpoints.id = waiting.endpoint
      where waiting.endpoint like 'whe!_%' escape '!' and ${others}
    ),
    turns as (
      select first_due.id, first_due.due_at, coalesce(under_way.endpoints, 0)
        + row_number() over (partition by first_due.project_id order by first_due.due_at) as turn
      from first_due left join under_way on under_way.project_id = first_due.project_id
      where first_due.due_at <= ${now}
    )
    select id from turns where turn <= ${ENDPOINTS_AT_ONCE_PER_PROJECT} order by turn, due_at limit ${limit}`;
}
