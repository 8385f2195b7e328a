/** Finds persons in texts that others wrote, for export and erasure. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { RoundRobinLock } from "../../kernel/async/round-robin-lock.ts";
import { turns } from "../../kernel/async/turns.ts";
import type { Database } from "../../storage/database.ts";
import { isConstraintViolation } from "../../storage/errors.ts";
import type { Person, TextKind } from "../../storage/personal-data.ts";
import { withoutPerson } from "./without-person.ts";

/** `FreeTexts` of any table. */
export interface AnyTexts {
  columns: { readonly [column: string]: TextKind | undefined };
  within: string | { column: string; table: string; by: string };
  key?: readonly string[];
}

type Key = Readonly<Record<string, unknown>>;

interface QuotingText {
  key: Key;
  column: string;
  text: string;
  /** The text with the pseudonym for the person. */
  erased: string;
  /** What in the text names the person. */
  passages: readonly string[];
}

/** Rows that one statement looks at, and bytes of their texts: SQLite answers no other request meanwhile. */
const ROWS_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 1_000_000;
/** Names are unique: two of them may become the same one. */
const MAX_EQUAL_NAMES = 100;

/** Exports and erasures search one page at a time, so that all of them together do not take more than one. */
const pages = new RoundRobinLock();

/**
 * Yields where texts quote the person, and the passages that do. The rest of a text is not about the person, who may not be
 * allowed to read it.
 */
export async function* readTexts(
  database: Database,
  table: string,
  texts: AnyTexts,
  person: Person,
): AsyncGenerator<object> {
  for await (const { key, column, passages } of quotingTexts(database, table, texts, person)) {
    yield { ...key, [column]: passages };
  }
}

/** Puts the pseudonym where texts quote the person, and returns the number of texts. */
export async function eraseTexts(database: Database, table: string, texts: AnyTexts, person: Person): Promise<number> {
  let erased = 0;
  for await (const quoting of quotingTexts(database, table, texts, person)) {
    erased += await replaceText(database, table, quoting);
  }
  return erased;
}

async function replaceText(
  database: Database,
  table: string,
  { key, column, text, erased }: QuotingText,
): Promise<number> {
  const isRow = sql.join(
    Object.entries(key).map(([name, value]) => sql`${sql.ref(name)} = ${value}`),
    sql` and `,
  );
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? erased : `${erased} ${number}`;
    const statement = sql`update ${sql.table(table)} set ${sql.ref(column)} = ${name}
      where ${isRow} and ${sql.ref(column)} = ${text}`;
    try {
      const { numAffectedRows = 0n } = await database.run((executor) => statement.execute(executor));
      return Number(numAffectedRows);
    } catch (error) {
      if (!isConstraintViolation(error) || number === MAX_EQUAL_NAMES) throw error;
    }
  }
}

async function* quotingTexts(
  database: Database,
  table: string,
  texts: AnyTexts,
  person: Person,
): AsyncGenerator<QuotingText> {
  if (person.quotations.length === 0) return;
  const { columns, key: names = ["id"] } = texts;
  const turn = turns();
  const readQuoting = async (after: Key | undefined) => {
    await nextTurn();
    const rows = await readPage(database, table, { ...texts, key: names }, person, after);
    const quoting: QuotingText[] = [];
    let key: Key | undefined;
    for (const row of rows) {
      key = Object.fromEntries(names.map((name) => [name, row[name]]));
      for (const [index, [column, kind = "prose"]] of Object.entries(columns).entries()) {
        const text = row[toAlias(index)];
        if (typeof text !== "string") continue;
        const { erased, passages } = await withoutPerson(text, { kind, person, turn });
        if (passages.length > 0) quoting.push({ key, column, text, erased, passages });
      }
    }
    return { quoting, last: key };
  };
  for (let after: Key | undefined; ; ) {
    const { quoting, last } = await pages.run(person.organizationId, () => readQuoting(after));
    yield* quoting;
    if (last === undefined) return;
    after = last;
  }
}

/**
 * Reads the next rows in the order of the key, with null for texts that cannot quote the person or belong to others. Looks
 * at a bounded number of rows: the index of the key finds them, whichever organization has the table's other rows.
 */
async function readPage(
  database: Database,
  table: string,
  { columns, within, key }: AnyTexts & { key: readonly string[] },
  person: Person,
  after: Key | undefined,
): Promise<Record<string, unknown>[]> {
  const names = sql.join(key.map((name) => sql.ref(name)));
  const next = after === undefined ? sql`` : sql`where (${names}) > (${sql.join(key.map((name) => after[name]))})`;
  const sizes = Object.keys(columns).map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  const texts = Object.keys(columns).map((column, index) => {
    const tokens = sql.join(
      person.quotations.map(({ token }) => hasToken(column, token)),
      sql` or `,
    );
    const text = sql`case when ${isWithin(within, person)} and (${tokens}) then ${sql.ref(column)} end`;
    return sql`${text} as ${sql.ref(toAlias(index))}`;
  });
  // The inner queries read the lengths of texts only.
  const query = sql`
    with next_rows as (
      select ${names}, ${sql.join(sizes, sql` + `)} as size
      from ${sql.table(table)} ${next} order by ${names} limit ${ROWS_AT_ONCE}
    ), page as (
      select ${names}, row_number() over (order by ${names}) as number, sum(size) over (order by ${names}) as bytes
      from next_rows
    )
    select ${names}, ${sql.join(texts)} from ${sql.table(table)}
    where (${names}) in (select ${names} from page where number = 1 or bytes <= ${BYTES_AT_ONCE}) order by ${names}`;
  return (await database.run((executor) => query.execute(executor))).rows as Record<string, unknown>[];
}

/** A column of texts may be one of the key, too. */
function toAlias(index: number): string {
  return `text${index}`;
}

/** Whether a text may have the token. `lower` of SQLite knows ASCII only, so only ASCII is compared. */
function hasToken(column: string, token: string): RawBuilder<unknown> {
  const [longest = ""] =
    token
      .match(/[ -!#-[\]-~]+/g)
      ?.map((part) => part.toLowerCase())
      .toSorted((a, b) => b.length - a.length) ?? [];
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
