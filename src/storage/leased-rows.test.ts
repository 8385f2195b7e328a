import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../test/support/databases/databases.ts";
import { eventually } from "../../test/support/service/eventually.ts";
import { openDatabase } from "./database.ts";
import { LeasedRows } from "./leased-rows.ts";

const databases = useDatabases();
const ROW = { type: "invite", organizationId: "org", recipient: "a@example.com", subject: "", body: "", createdAt: 0 };

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open(...ids: string[]) {
    const database = openDatabase(await databases.create(kind));
    await database.run(async (executor) => {
      const rows = ids.map((id, index) => ({ ...ROW, id, attempts: 0, dueAt: index }));
      await executor.insertInto("mailDeliveries").values(rows).execute();
    });
    const rows = new LeasedRows(database, { table: "mailDeliveries", key: "id", owner: { count: "attempts" } });
    return { database, rows, [Symbol.asyncDispose]: () => database.close() };
  }
  const leaseMs = 600_000;

  test("leases each due row once, those that were due first", async () => {
    await using opened = await open("a", "b", "c");
    const [first, second] = await Promise.all([
      opened.rows.claim({ limit: 2, leaseMs }),
      opened.rows.claim({ limit: 2, leaseMs }),
    ]);
    const third = await opened.rows.claim({ limit: 2, leaseMs });
    const ids = [first, second, third].flatMap((rows) => rows.map(({ id }) => id));
    expect(ids.toSorted()).toEqual(["a", "b", "c"]);
    // Either of the two may be the first to reach the database.
    expect([...first, ...second]).toContainEqual(
      expect.objectContaining({ id: "a", attempts: 1, recipient: "a@example.com" }),
    );
  });

  test("leases only rows that the condition selects", async () => {
    await using opened = await open("a", "b");
    expect(await opened.rows.claim({ limit: 2, leaseMs, where: sql`id = ${"b"}` })).toMatchObject([{ id: "b" }]);
  });

  test("renews and releases for the process that has the lease only", async () => {
    await using opened = await open("a");
    const [before] = await opened.rows.claim({ limit: 1, leaseMs });
    expect(await opened.rows.release(before as never, 0)).toBe(true);
    const [after] = await opened.rows.claim({ limit: 1, leaseMs });
    expect(after).toMatchObject({ id: "a", attempts: 2 });
    expect(await opened.rows.renew(before as never, leaseMs)).toBe(false);
    expect(await opened.rows.release(before as never, 0)).toBe(false);
    expect(await opened.rows.renew(after as never, leaseMs)).toBe(true);
    expect(await opened.rows.claim({ limit: 1, leaseMs })).toEqual([]);
  });

  test("makes an urgent row due soon after its release, and not at once", async () => {
    await using opened = await open("a", "b");
    const options = { table: "mailDeliveries", key: "id", owner: { count: "attempts" } } as const;
    const rows = new LeasedRows(opened.database, { ...options, urgent: sql`id = ${"a"}` });
    const leased = await rows.claim({ limit: 2, leaseMs });
    for (const row of leased) await rows.release(row, leaseMs);
    expect(await rows.claim({ limit: 2, leaseMs })).toEqual([]);
    await eventually(async () => expect(await rows.claim({ limit: 2, leaseMs })).toMatchObject([{ id: "a" }]));
  });

  test("ends leases of an earlier process where the database has one process only", async () => {
    await using opened = await open("a");
    const endsEarlierLeases = true;
    const options = { table: "mailDeliveries", key: "id", owner: { count: "attempts" }, endsEarlierLeases } as const;
    await new LeasedRows(opened.database, options).claim({ limit: 1, leaseMs });
    const later = await new LeasedRows(opened.database, options).claim({ limit: 1, leaseMs });
    expect(later).toHaveLength(kind === "sqlite" ? 1 : 0);
  });
});
