import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import type { Logger } from "../../kernel/logger.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { RequestHistory } from "./request-history.ts";
import type { SortedPosition } from "./sorted-requests.ts";
import { historyRetention } from "./usage-retention.ts";

const databases = useDatabases();
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const IN_TIME = new AbortController().signal;
const FILTER = { organizationId: "org_a" };
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

interface Opened {
  database: Database;
  history: RequestHistory;
  logger: Logger;
}

async function open(kind: (typeof DATABASE_KINDS)[number]): Promise<Opened> {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const history = new RequestHistory({ database, logger: options.logger, days: 7 });
  closing.defer(() => history.close());
  return { database, history, logger: options.logger };
}

function entry(change: Partial<RequestEntry> = {}): RequestEntry {
  return {
    id: "req_1",
    at: NOON,
    organizationId: "org_a",
    projectId: "proj_a",
    keyId: "key_a",
    operation: "chat/completions",
    model: "parrot",
    answeredBy: "parrot",
    deployment: "parrot/1",
    status: 200,
    outcome: "finished",
    error: null,
    attempts: 1,
    queuedMilliseconds: 0,
    firstTokenMilliseconds: 12,
    durationMilliseconds: 120,
    promptTokens: 10,
    cachedTokens: 2,
    completionTokens: 5,
    characters: 0,
    audioMilliseconds: 0,
    costNanoDollars: 700,
    details: null,
    ...change,
  };
}

const dimensions = (database: Database) =>
  database.run((executor) => executor.selectFrom("requestDimensions").selectAll().orderBy("model").execute());

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("lists entries unchanged, newest first", async () => {
    const { database, history } = await open(kind);
    const given = [
      entry(),
      entry({ id: "req_2", at: NOON + 1, completionTokens: 9, costNanoDollars: null }),
      entry({ id: "req_3", at: NOON + 1, status: 404, outcome: null, error: "model_not_found", answeredBy: null }),
      entry({ id: "req_4", at: NOON + 2, model: null, deployment: null, promptTokens: null, attempts: null }),
    ];
    for (const each of given) history.record(each);
    const page = await history.list(FILTER, undefined, 10);
    expect(page).toEqual({ entries: given.toReversed(), next: undefined });
    expect(await dimensions(database)).toHaveLength(3);
  });

  test("filters by what requests have in common", async () => {
    const { history } = await open(kind);
    history.record(entry());
    history.record(
      entry({ id: "req_2", at: NOON + 1, projectId: "proj_b", keyId: "key_b", model: "owl", status: 500, attempts: 3 }),
    );
    history.record(entry({ id: "req_3", at: NOON + 2, organizationId: "org_b", keyId: "key_c" }));
    const ids = async (filter: object) =>
      (await history.list({ ...FILTER, ...filter }, undefined, 10)).entries.map(({ id }) => id);
    expect(await ids({})).toEqual(["req_2", "req_1"]);
    expect(await ids({ projectIds: ["proj_a"] })).toEqual(["req_1"]);
    expect(await ids({ keyIds: ["key_b"], models: ["owl", "parrot"] })).toEqual(["req_2"]);
    expect(await ids({ isFailed: false })).toEqual(["req_1"]);
    const broken = { organizationId: "org_c", keyId: "key_d", at: NOON + DAY };
    history.record(entry({ ...broken, id: "req_4", error: "upstream_timeout" }));
    history.record(entry({ ...broken, id: "req_5" }));
    expect(await ids({ organizationId: "org_c", isFailed: true })).toEqual(["req_4"]);
    expect(await ids({ organizationId: "org_c", isFailed: false })).toEqual(["req_5"]);
    expect(
      await Array.fromAsync(history.minutes({ ...FILTER, organizationId: "org_c" }, NOON, NOON + 2 * DAY)),
    ).toMatchObject([{ requests: 2, errors: 1 }]);
    const minutes = await Array.fromAsync(history.minutes(FILTER, NOON, NOON + DAY));
    expect(minutes).toEqual([
      { beginsAt: NOON, requests: 2, errors: 1, promptTokens: 20, completionTokens: 10, retries: 2 },
    ]);
    expect(await history.firstTokenTimes({ ...FILTER, models: ["owl"] }, { from: NOON, until: NOON + DAY })).toEqual([
      12,
    ]);
  });

  test("sorts by each measure page by page, those without it last and equal ones newest first", async () => {
    const { history } = await open(kind);
    history.record(entry({ id: "a", at: NOON, durationMilliseconds: 20, costNanoDollars: null, promptTokens: 90 }));
    history.record(entry({ id: "b", at: NOON + 1, durationMilliseconds: 3e6, costNanoDollars: 2e9 }));
    history.record(entry({ id: "c", at: NOON + 2, durationMilliseconds: 10, costNanoDollars: 5e12 }));
    history.record(entry({ id: "d", at: NOON + 3, durationMilliseconds: 20, costNanoDollars: 7, promptTokens: null }));
    history.record(entry({ id: "e", at: NOON + 3, durationMilliseconds: 5, organizationId: "org_b" }));
    for (const [measure, isDescending, expected] of [
      ["duration_ms", true, "bdac"],
      ["duration_ms", false, "cdab"],
      ["cost_usd", true, "cbda"],
      ["cost_usd", false, "dbca"],
      ["total_tokens", true, "acbd"],
      ["first_token_ms", true, "dcba"],
    ] as const) {
      let ids = "";
      let next: SortedPosition | undefined;
      do {
        const page = await history.listSorted(FILTER, { measure, isDescending }, next, 1, IN_TIME);
        expect(page.entries).toHaveLength(1);
        ids += page.entries[0]?.id;
        next = page.next;
      } while (next !== undefined);
      expect([measure, isDescending, ids]).toEqual([measure, isDescending, expected]);
    }
    const order = { measure: "duration_ms", isDescending: true } as const;
    const part = await history.listSorted(
      { ...FILTER, from: NOON + 1, until: NOON + 3 },
      order,
      undefined,
      10,
      IN_TIME,
    );
    expect(part.entries.map(({ id }) => id)).toEqual(["b", "c"]);
  });

  test("sorts more requests than one query reads", async () => {
    const { history } = await open(kind);
    for (let index = 0; index < 12_000; index += 1) {
      history.record(entry({ id: `req_${index}`, at: NOON + index, durationMilliseconds: (index * 7919) % 12_000 }));
    }
    const order = { measure: "duration_ms", isDescending: true } as const;
    const first = await history.listSorted(FILTER, order, undefined, 2, IN_TIME);
    const second = await history.listSorted(FILTER, order, first.next, 2, IN_TIME);
    const durations = [...first.entries, ...second.entries].map((each) => each.durationMilliseconds);
    expect(durations).toEqual([11_999, 11_998, 11_997, 11_996]);
    // The oldest row, which the second query reads.
    const smallest = { measure: "duration_ms", isDescending: false } as const;
    const { entries } = await history.listSorted(FILTER, smallest, undefined, 1, IN_TIME);
    expect(entries.map(({ id }) => id)).toEqual(["req_0"]);
  });

  test("keeps the dimensions of entries until the entries expire", async () => {
    const { database, history, logger } = await open(kind);
    history.record(entry({ at: NOON - 8 * DAY }));
    history.record(entry({ id: "req_2", at: NOON - 10 * DAY, model: "owl" }));
    await history.flush();
    history.record(entry({ id: "req_3", at: NOON }));
    await history.flush();
    const retention = historyRetention({ database, logger, days: 7 });
    await retention.removeExpired(NOON);
    retention[Symbol.dispose]();
    expect((await history.list(FILTER, undefined, 10)).entries.map(({ id }) => id)).toEqual(["req_3"]);
    const today = NOON - (NOON % DAY);
    expect(await dimensions(database)).toMatchObject([{ model: "parrot", lastDay: today }]);
  });
});

test("keeps entries while the database is unavailable, and writes them once", async () => {
  const { database, history } = await open("sqlite");
  history.record(entry());
  await history.flush();
  await database.run((executor) => executor.schema.alterTable("requestHistory").renameTo("away").execute());
  history.record(entry({ id: "req_2", at: NOON + 1 }));
  await history.flush();
  history.record(entry({ id: "req_3", at: NOON + 2 }));
  await history.flush();
  await database.run((executor) => executor.schema.alterTable("away").renameTo("requestHistory").execute());
  const { entries } = await history.list(FILTER, undefined, 10);
  expect(entries.map(({ id }) => id)).toEqual(["req_3", "req_2", "req_1"]);
});
