/** Inserts many rows with statements that are compiled once, which Kysely would do for every one of them. */

import { CompiledQuery, type QueryResult, type RawBuilder, sql } from "kysely";
import type { Executor } from "./database.ts";
import type { Schema } from "./schema.ts";

type SqlValue = number | string | null;

export interface Insertion {
  table: keyof Schema;
  columns: readonly string[];
  onConflict: RawBuilder<unknown>;
}

/** Few lengths, whose statements are compiled once. Longer ones are not faster per row on SQLite. */
const ROWS_OF_STATEMENTS = [256, 64, 16, 4, 1];

/** Inserts rows, whose `values` follow one another. */
export async function insert(executor: Executor, insertion: Insertion, values: readonly SqlValue[]): Promise<void> {
  let start = 0;
  for (const rows of ROWS_OF_STATEMENTS) {
    const length = rows * insertion.columns.length;
    for (; values.length - start >= length; start += length) {
      await run(executor, insertion, rows, values.slice(start, start + length));
    }
  }
}

/** SQL by adapter, of which each open database has one, then by table and number of rows. */
const statements = new WeakMap<object, Map<string, string>>();

export function run(
  executor: Executor,
  insertion: Insertion,
  rows: number,
  values: SqlValue[],
): Promise<QueryResult<unknown>> {
  const { adapter } = executor.getExecutor();
  const ofAdapter = statements.get(adapter) ?? new Map<string, string>();
  statements.set(adapter, ofAdapter);
  const name = `${insertion.table} ${rows}`;
  let text = ofAdapter.get(name);
  if (text === undefined) {
    text = textOf(executor, insertion, rows);
    ofAdapter.set(name, text);
  }
  return executor.executeQuery(CompiledQuery.raw(text, values));
}

function textOf(executor: Executor, { table, columns, onConflict }: Insertion, rows: number): string {
  const names = columns.map((column) => sql.ref(column));
  const row = sql`(${sql.join(columns.map(() => sql.val(0)))})`;
  const values = Array.from({ length: rows }, () => row);
  const insertion = sql`insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(values)} ${onConflict}`;
  return insertion.compile(executor).sql;
}
