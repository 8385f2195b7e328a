/** Compares two schemas: what a process that was written for the first can no longer rely on in the second. */

import { type Kysely, sql } from "kysely";

interface Column {
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
}

interface TableSnapshot {
  columns: Record<string, Column>;
  /** Unique indexes and foreign keys, each in one line. */
  constraints: string[];
}

export type SchemaSnapshot = Record<string, TableSnapshot>;

/** Reads the schema of a SQLite database. */
export async function readSchema(db: Kysely<unknown>): Promise<SchemaSnapshot> {
  const snapshot: SchemaSnapshot = {};
  for (const { name, columns } of await db.introspection.getTables()) {
    snapshot[name] = {
      columns: Object.fromEntries(
        columns.map(({ name: column, dataType, isNullable, hasDefaultValue }) => [
          column,
          { type: dataType, isNullable, hasDefault: hasDefaultValue },
        ]),
      ),
      constraints: await readConstraints(db, name),
    };
  }
  return snapshot;
}

async function readConstraints(db: Kysely<unknown>, table: string): Promise<string[]> {
  const unique = await sql<{ columns: string }>`
    select (select group_concat(name) from pragma_index_info(list.name)) as columns
    from pragma_index_list(${table}) as list where list."unique" = 1`.execute(db);
  const foreign = await sql<{ from: string; table: string }>`
    select "from", "table" from pragma_foreign_key_list(${table})`.execute(db);
  return [
    ...unique.rows.map(({ columns }) => `unique (${columns})`),
    ...foreign.rows.map(({ from, table: target }) => `foreign key (${from}) to ${target}`),
  ].sort();
}

/** Returns one line per change that an older process does not survive. */
export function breakingChanges(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  return Object.entries(before).flatMap(([table, old]) => {
    const current = after[table];
    return current === undefined ? [`${table}: removed`] : tableChanges(table, old, current);
  });
}

function tableChanges(table: string, old: TableSnapshot, current: TableSnapshot): string[] {
  const removed = Object.keys(old.columns).filter((column) => current.columns[column] === undefined);
  const changed = Object.entries(current.columns).flatMap(([name, column]) => {
    const previous = old.columns[name];
    // An older process inserts rows without the column.
    if (previous === undefined) return column.isNullable || column.hasDefault ? [] : [`${name}: required`];
    if (previous.type !== column.type) return [`${name}: ${previous.type} became ${column.type}`];
    return previous.isNullable && !column.isNullable ? [`${name}: required`] : [];
  });
  const added = current.constraints.filter((constraint) => !old.constraints.includes(constraint));
  return [...removed.map((column) => `${column}: removed`), ...changed, ...added].map((change) => `${table}.${change}`);
}
