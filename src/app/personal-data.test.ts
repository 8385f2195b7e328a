import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../test/support/databases/databases.ts";
import type { AnyRegistration } from "../features/privacy/personal-rows.ts";
import { openDatabase } from "../storage/database.ts";
import { PERSONAL_DATA } from "./personal-data.ts";

const databases = useDatabases();

/** Tables of the migrations, and of SQLite for the full-text index, whose rows go with those of recorded_contents. */
const INTERNAL = /^kysely_|^schema_compatibility$|^recorded_index/;
/** Columns that name a user, an end user, a key of a user, or where a person was. */
const PERSONAL =
  /(^|_)(user|email|address|subject|sid|actor|principal|person|member|owner|author|end_user|customer|key_id|client|agent)(_|$)|^(created|invited|updated|changed|added)_by$/;

test.each(DATABASE_KINDS)("says for each table of %s what export and erasure do with it", async (kind) => {
  await using stack = new AsyncDisposableStack();
  const database = openDatabase(await databases.create(kind));
  stack.defer(() => database.close());
  await database.migrate();
  const tables = await database.run((executor) => executor.withoutPlugins().introspection.getTables());
  const present = tables.filter(({ name }) => !INTERNAL.test(name));
  expect(present.length).toBeGreaterThan(40);
  const registrations: Readonly<Record<string, AnyRegistration>> = PERSONAL_DATA;
  const missing = present.flatMap(({ name, columns }) => {
    const registration = registrations[toCamelCase(name)];
    if (registration === undefined) return [`${name} says nothing where its rows are declared`];
    const personal = columns.map((column) => column.name).filter((column) => PERSONAL.test(column));
    const handled = "reason" in registration ? [] : columnsOf(registration);
    return personal
      .filter((column) => !handled.includes(toCamelCase(column)))
      .map((column) => `${name}.${column} names a person: say what erasure does with it, or why it names nobody`);
  });
  expect(missing).toEqual([]);
  const names = new Set(present.map(({ name }) => toCamelCase(name)));
  expect(Object.keys(registrations).filter((name) => !names.has(name))).toEqual([]);
});

/** Columns with IDs, hashes, choices of a list, and what the service itself writes: no person wrote their text. */
const WRITTEN_BY_SERVICE =
  /(^|_)(id|ids|hash|key|number|status|kind|type|mode|state|outcome|period|action|reason|purpose|source|endpoint|code|tier|by|token|salt|hashes|answer|blob)$|^(operation|role|completion_window|permissions|redacted_value|alert_percents|key_rules|answered_by|oldest_compatible|migration|level|tags|settings|language|shared_of)$/;

test("says for each text that a person may have written what an erasure does with it", async () => {
  await using stack = new AsyncDisposableStack();
  const database = openDatabase(await databases.create("sqlite"));
  stack.defer(() => database.close());
  await database.migrate();
  const tables = await database.run((executor) => executor.withoutPlugins().introspection.getTables());
  const registrations: Readonly<Record<string, AnyRegistration>> = PERSONAL_DATA;
  const undecided = tables.flatMap(({ name, columns }) => {
    const registration = registrations[toCamelCase(name)];
    if (registration === undefined || isDeleted(registration)) return [];
    const { texts, impersonal = {} } = registration;
    const ofRows = "reason" in registration ? [] : columnsOf(registration);
    const decided = [...Object.keys(texts?.columns ?? {}), ...Object.keys(impersonal), ...ofRows];
    return columns
      .filter(({ dataType }) => dataType.toLowerCase() === "text")
      .map((column) => column.name)
      .filter((column) => !WRITTEN_BY_SERVICE.test(column) && !decided.includes(toCamelCase(column)))
      .map((column) => `${name}.${column}`);
  });
  expect(undecided).toEqual([]);
});

/** Whether the only decision about all rows of a person is to delete them. */
function isDeleted(registration: AnyRegistration): boolean {
  return "rows" in registration && registration.rows.every((rows) => "erase" in rows && rows.erase === "delete");
}

test.each(DATABASE_KINDS)("finds the organization of values that two organizations can have on %s", async (kind) => {
  await using stack = new AsyncDisposableStack();
  const database = openDatabase(await databases.create(kind));
  stack.defer(() => database.close());
  await database.migrate();
  const tables = await database.run((executor) => executor.withoutPlugins().introspection.getTables());
  const registrations: Readonly<Record<string, AnyRegistration>> = PERSONAL_DATA;
  for (const { name, columns } of tables) {
    const registration = registrations[toCamelCase(name)];
    if (registration === undefined || "reason" in registration) continue;
    const kinds = registration.rows.flatMap((rows) => ("by" in rows ? Object.values(rows.by) : []));
    if (!kinds.includes("email") && !kinds.includes("endUser")) continue;
    expect([name, columns.some((column) => column.name === "organization_id")]).toEqual([name, true]);
  }
});

function columnsOf({ rows, impersonal = {} }: Extract<AnyRegistration, { rows: unknown }>): string[] {
  const ofRows = rows.flatMap((each) => {
    if ("columns" in each) return each.columns;
    return [
      ...Object.keys(each.by),
      ...(each.hidden ?? []),
      ...(each.erase === "delete" ? [] : Object.keys(each.erase)),
    ];
  });
  return [...ofRows, ...Object.keys(impersonal)];
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
