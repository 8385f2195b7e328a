/** Reads and erases the rows of a table by its registration. */

import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../storage/database.ts";
import { isConstraintViolation } from "../../storage/errors.ts";
import { MAX_PAGE_BYTES } from "../../storage/first-within.ts";
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
    for await (const { text, rows } of quotingTexts(database, table, { column, within }, person)) {
      for (let row = 0; row < rows; row += 1) yield { [column]: text };
    }
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
    for await (const { text } of quotingTexts(database, table, { column, within }, person)) {
      erased += await replaceText(database, table, { column, within, text }, person);
    }
  }
  return erased;
}

/** Names are unique: two of them may become the same one. */
const MAX_EQUAL_NAMES = 100;

async function replaceText(
  database: Database,
  table: string,
  { column, within, text }: { column: string; within: AnyTexts["within"]; text: string },
  person: Person,
): Promise<number> {
  const replaced = withoutPerson(text, person);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? replaced : `${replaced} ${number}`;
    const statement = sql`update ${sql.table(table)} set ${sql.ref(column)} = ${name}
      where ${isWithin(within, person)} and ${sql.ref(column)} = ${text}`;
    try {
      const { numAffectedRows = 0n } = await database.run((executor) => statement.execute(executor));
      return Number(numAffectedRows);
    } catch (error) {
      if (!isConstraintViolation(error) || number === MAX_EQUAL_NAMES) throw error;
    }
  }
}

/** Yields the different texts of a column that quote the person, and how many rows have each. */
async function* quotingTexts(
  database: Database,
  table: string,
  { column, within }: { column: string; within: AnyTexts["within"] },
  person: Person,
): AsyncGenerator<{ text: string; rows: number }> {
  const { quotations } = person;
  if (quotations.length === 0) return;
  const tokens = sql.join(
    quotations.map(({ token }) => hasToken(column, token)),
    sql` or `,
  );
  const name = sql.ref(column);
  for (let after: string | undefined; ; ) {
    // One statement: between two, others may add a text, and one of those that were there would be left out.
    const rows = await readAll(
      database,
      sql`select text, rows, remaining from (
        select ${name} as text, count(*) as rows, count(*) over () as remaining,
          row_number() over (order by ${name}) as number, sum(length(${name})) over (order by ${name}) as bytes
        from ${sql.table(table)} where ${isWithin(within, person)} and (${tokens})
        ${after === undefined ? sql`` : sql`and ${name} > ${after}`} group by ${name}
      ) as page where number = 1 or (number <= ${ROWS_AT_ONCE} and bytes <= ${MAX_PAGE_BYTES}) order by number`,
    );
    for (const row of rows) {
      const text = String(row.text);
      if (withoutPerson(text, person) !== text) yield { text, rows: Number(row.rows) };
      after = text;
    }
    if (rows.length >= Number(rows[0]?.remaining ?? 0)) return;
  }
}

function withoutPerson(text: string, { quotations, pseudonym }: Person): string {
  return quotations.reduce((rest, quotation) => quotation.replace(rest, pseudonym), text);
}

/** Whether a text may have the token. `lower` of SQLite knows ASCII only, so only ASCII is compared. */
function hasToken(column: string, token: string): RawBuilder<unknown> {
  const [longest = ""] =
    token
      .toLowerCase()
      .match(/[ -!#-[\]-~]+/g)
      ?.toSorted((a, b) => b.length - a.length) ?? [];
  // Unlike `like`, it needs no escapes.
  return longest === ""
    ? sql`${sql.ref(column)} is not null`
    : sql`replace(lower(${sql.ref(column)}), ${longest}, '') <> lower(${sql.ref(column)})`;
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
