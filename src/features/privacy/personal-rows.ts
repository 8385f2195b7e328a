/** Reads and erases the rows of a table by its registration. */

import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../storage/database.ts";
import {
  type IdentifierKind,
  type Person,
  type PersonalContext,
  PSEUDONYM,
  type QueriedRows,
} from "../../storage/personal-data.ts";
import { type AnyTexts, eraseTexts, readTexts } from "./personal-texts.ts";

/** Registration of any table; the compiler checks its columns where it is defined. */
export type AnyRegistration = { texts?: AnyTexts; impersonal?: object } & (
  | { reason: string }
  | { rows: readonly (AnyRows | AnyQueriedRows)[] }
);
type AnyQueriedRows = Omit<QueriedRows<never>, "columns"> & { columns: readonly string[] };

interface AnyRows {
  by: { readonly [column: string]: IdentifierKind | undefined };
  hidden?: readonly string[];
  order?: string;
  erase: "delete" | { readonly [column: string]: unknown };
}

const ROWS_AT_ONCE = 500;
/** Kinds of values that two organizations can have. */
const NOT_UNIQUE: readonly IdentifierKind[] = ["email", "endUser"];

/** Yields the exported rows of a table, with the names of its columns. */
export async function* readTable(
  table: string,
  registration: AnyRegistration,
  context: PersonalContext,
  person: Person,
): AsyncGenerator<object> {
  if (!("reason" in registration)) {
    for (const rows of registration.rows) {
      if ("columns" in rows) yield* rows.read?.(context, person) ?? [];
      else yield* readRows(context.database, table, rows, person);
    }
  }
  if (registration.texts !== undefined) yield* readTexts(context.database, table, registration.texts, person);
}

/** Erases the person in a table and returns the number of rows. */
export async function eraseTable(
  table: string,
  registration: AnyRegistration,
  context: PersonalContext,
  person: Person,
): Promise<number> {
  let erased = 0;
  if (!("reason" in registration)) {
    for (const rows of registration.rows) {
      if ("columns" in rows) erased += (await rows.erase?.(context, person)) ?? 0;
      else erased += await eraseRows(context.database, table, rows, person);
    }
  }
  if (registration.texts !== undefined) erased += await eraseTexts(context.database, table, registration.texts, person);
  return erased;
}

async function* readRows(
  database: Database,
  table: string,
  { by, hidden = [], order }: AnyRows,
  person: Person,
): AsyncGenerator<object> {
  const condition = namesPerson(by, person);
  if (condition === undefined) return;
  const all = sql`from ${sql.table(table)} where ${condition}`;
  const [first] = await readAll(database, sql`select * ${all} limit 1`);
  if (first === undefined) return;
  // Those that are hidden may have megabytes in each row.
  const names = Object.keys(first).filter((name) => name === order || !hidden.includes(name));
  const columns = sql.join(names.map((name) => sql.ref(name)));
  for (let after: unknown; ; ) {
    const column = order === undefined ? undefined : sql.ref(order);
    const page =
      column === undefined
        ? sql``
        : sql`${after === undefined ? sql`` : sql`and ${column} > ${after}`} order by ${column} limit ${ROWS_AT_ONCE}`;
    const rows = await readAll(database, sql`select ${columns} ${all} ${page}`);
    for (const row of rows) {
      yield Object.fromEntries(Object.entries(row).filter(([name]) => !hidden.includes(name)));
    }
    if (order === undefined || rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)?.[order];
  }
}

async function readAll(database: Database, query: RawBuilder<unknown>): Promise<Record<string, unknown>[]> {
  return (await database.run((executor) => query.execute(executor))).rows as Record<string, unknown>[];
}

async function eraseRows(database: Database, table: string, { by, erase }: AnyRows, person: Person): Promise<number> {
  const condition = namesPerson(by, person);
  if (condition === undefined) return 0;
  const name = sql.table(table);
  const changes = Object.entries(erase === "delete" ? {} : erase).map(
    ([column, value]) => sql`${sql.ref(column)} = ${value === PSEUDONYM ? person.pseudonym : value}`,
  );
  const statement =
    erase === "delete"
      ? sql`delete from ${name} where ${condition}`
      : sql`update ${name} set ${sql.join(changes)} where ${condition}`;
  const { numAffectedRows = 0n } = await database.run((executor) => statement.execute(executor));
  return Number(numAffectedRows);
}

/** Undefined: the person has no identifier of these kinds. */
function namesPerson(by: AnyRows["by"], person: Person): RawBuilder<unknown> | undefined {
  const parts = Object.entries(by).flatMap(([column, kind]) => {
    if (kind === undefined) return [];
    const values = person.identifiers[kind];
    if (values.length === 0) return [];
    const matches = sql`${sql.ref(column)} in (${sql.join(values)})`;
    if (!NOT_UNIQUE.includes(kind)) return [matches];
    return [sql`(${matches} and ${sql.ref("organizationId")} = ${person.organizationId})`];
  });
  return parts.length === 0 ? undefined : sql`(${sql.join(parts, sql` or `)})`;
}
