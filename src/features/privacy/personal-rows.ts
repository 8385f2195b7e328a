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

/** Registration of any table; the compiler checks its columns where it is defined. */
export type AnyRegistration = { texts?: AnyTexts; impersonal?: object } & (
  | { reason: string }
  | { rows: readonly (AnyRows | AnyQueriedRows)[] }
);
type AnyTexts = { columns: readonly string[]; within: string | { column: string; table: string; by: string } };
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

/** Yields, of each row that quotes the person, the texts that do. */
async function* readTexts(
  database: Database,
  table: string,
  { columns, within }: AnyTexts,
  person: Person,
): AsyncGenerator<object> {
  for (const column of columns) {
    const quoting = quotes(column, person);
    if (quoting === undefined) return;
    const query = sql<object>`select ${sql.ref(column)} from ${sql.table(table)} where ${isWithin(within, person)} and ${quoting}`;
    const { rows } = await database.run((executor) => query.execute(executor));
    yield* rows;
  }
}

async function eraseTexts(
  database: Database,
  table: string,
  { columns, within }: AnyTexts,
  person: Person,
): Promise<number> {
  let erased = 0;
  for (const column of columns) {
    const quoting = quotes(column, person);
    if (quoting === undefined) return erased;
    const replaced = writtenForms(person).reduce<RawBuilder<unknown>>(
      (text, value) => sql`replace(${text}, ${value}, ${person.pseudonym})`,
      sql.ref(column),
    );
    const statement = sql`update ${sql.table(table)} set ${sql.ref(column)} = ${replaced} where ${isWithin(within, person)} and ${quoting}`;
    const { numAffectedRows = 0n } = await database.run((executor) => statement.execute(executor));
    erased += Number(numAffectedRows);
  }
  return erased;
}

/** Undefined: nothing names the person in texts of others. */
function quotes(column: string, person: Person): RawBuilder<unknown> | undefined {
  // Unlike `like`, it compares case on both databases.
  const parts = writtenForms(person).map(
    (value) => sql`replace(${sql.ref(column)}, ${value}, '') <> ${sql.ref(column)}`,
  );
  return parts.length === 0 ? undefined : sql`(${sql.join(parts, sql` or `)})`;
}

/** As people write the values, and as JSON has them. */
function writtenForms({ quotations }: Person): string[] {
  const forms = quotations.flatMap((value) => [value, value.toLowerCase()]);
  return [...new Set([...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))])];
}

function isWithin(within: AnyTexts["within"], { organizationId }: Person): RawBuilder<unknown> {
  if (typeof within !== "string") {
    const condition = isWithin(within.by, { organizationId } as Person);
    return sql`${sql.ref(within.column)} in (select id from ${sql.table(within.table)} where ${condition})`;
  }
  return within === "organizationId"
    ? sql`${sql.ref("organizationId")} = ${organizationId}`
    : sql`${sql.ref("projectId")} in (select id from projects where ${sql.ref("organizationId")} = ${organizationId})`;
}

async function* readRows(
  database: Database,
  table: string,
  { by, hidden = [], order }: AnyRows,
  person: Person,
): AsyncGenerator<object> {
  const condition = namesPerson(by, person);
  if (condition === undefined) return;
  for (let after: unknown; ; ) {
    const column = order === undefined ? undefined : sql.ref(order);
    const page =
      column === undefined
        ? sql``
        : sql`${after === undefined ? sql`` : sql`and ${column} > ${after}`} order by ${column} limit ${ROWS_AT_ONCE}`;
    const query = sql<Record<string, unknown>>`select * from ${sql.table(table)} where ${condition} ${page}`;
    const { rows } = await database.run((executor) => query.execute(executor));
    for (const row of rows) {
      yield Object.fromEntries(Object.entries(row).filter(([name]) => !hidden.includes(name)));
    }
    if (order === undefined || rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)?.[order];
  }
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
