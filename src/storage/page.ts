/** Pages of a list by the last entry seen, so that entries made meanwhile neither shift nor repeat others. */

import { type SelectQueryBuilder, sql } from "kysely";
import { invalidRequest } from "../kernel/faults.ts";
import { firstWithin, MAX_PAGE_BYTES } from "./first-within.ts";

export interface PageRequest {
  /** Id of the last entry of the page before this one. */
  after?: string | undefined;
  /** Id of the first entry of the page after this one; not together with `after`. */
  before?: string | undefined;
  limit: number;
  order: "asc" | "desc";
}

export interface Page<Entry> {
  entries: Entry[];
  /** Whether more entries follow in the requested direction. */
  hasMore: boolean;
}

type Entries<Tables, Table extends keyof Tables, Entry> = SelectQueryBuilder<Tables, Table, Entry>;

/**
 * Entries of `list` in the order of `time`. A cursor must be in `scope`, the list before any filter, since the
 * entry may have left the filtered list in the meantime. Throws a Fault for a cursor that is not.
 */
export async function readPage<Tables, Table extends keyof Tables, Entry extends { id: string }>(
  request: PageRequest,
  time: "createdAt" | "effectiveAt" | "addedAt" | "version",
  scope: Entries<Tables, Table, Entry>,
  list: Entries<Tables, Table, Entry> = scope,
): Promise<Page<Entry>> {
  const isBackward = request.before !== undefined;
  const order = isBackward ? opposite(request.order) : request.order;
  const timeColumn = sql.ref(time);
  const idColumn = sql.ref("id");
  let query = list
    .orderBy(timeColumn, order)
    .orderBy(idColumn, order)
    .limit(request.limit + 1);
  const cursor = request.before ?? request.after;
  if (cursor !== undefined) {
    const last = await scope.where(sql<boolean>`${idColumn} = ${cursor}`).executeTakeFirst();
    if (last === undefined) throw unknownCursor(isBackward ? "before" : "after", cursor);
    const lastTime = (last as unknown as Record<typeof time, number>)[time];
    const isPast = sql.raw(order === "asc" ? ">" : "<");
    query = query.where(sql<boolean>`(${timeColumn}, ${idColumn}) ${isPast} (${lastTime}, ${cursor})`);
  }
  const rows = (await query.execute()) as Entry[];
  const entries = rows.slice(0, request.limit);
  return { entries: isBackward ? entries.reverse() : entries, hasMore: rows.length > request.limit };
}

/** Ends a page early where its entries are large: it keeps the first one, and those after it that fit in beside it. */
export function withinBytes<Entry extends { bytes: unknown }>({ entries, hasMore }: Page<Entry>): Page<Entry> {
  const kept = firstWithin(MAX_PAGE_BYTES, entries);
  return { entries: [...kept], hasMore: hasMore || kept.length < entries.length };
}

function opposite(order: "asc" | "desc"): "asc" | "desc" {
  return order === "asc" ? "desc" : "asc";
}

function unknownCursor(param: string, cursor: string): Error {
  const shown = JSON.stringify(cursor.slice(0, 64));
  return invalidRequest(`Invalid value for '${param}': this list has no entry ${shown}.`, param, "invalid_value");
}

/** Page of rows in memory. Throws a Fault for a cursor that no row has. */
export function pageOfRows<Row extends { id: string }>(
  rows: readonly Row[],
  { after, before, limit }: { after?: string | undefined; before?: string | undefined; limit: number },
): Page<Row> {
  if (after !== undefined && before !== undefined) {
    throw invalidRequest("'after' and 'before' cannot be used together.", "before", "invalid_value");
  }
  const indexOf = (cursor: string, param: string) => {
    const index = rows.findIndex(({ id }) => id === cursor);
    if (index === -1)
      throw invalidRequest(`Invalid value for '${param}': the entry does not exist.`, param, "invalid_value");
    return index;
  };
  if (before !== undefined) {
    const end = indexOf(before, "before");
    const start = Math.max(0, end - limit);
    return { entries: rows.slice(start, end), hasMore: start > 0 };
  }
  const start = after === undefined ? 0 : indexOf(after, "after") + 1;
  return { entries: rows.slice(start, start + limit), hasMore: start + limit < rows.length };
}
