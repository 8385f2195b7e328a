import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import { expectTurnsBelow, longestTurnDuring } from "../../../test/support/service/longest-turn.ts";
import { openDatabase } from "../../storage/database.ts";
import { histogramOf } from "./request-histogram.ts";
import { RequestHistory } from "./request-history.ts";

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const ROWS = 150_000;
const IN_TIME = new AbortController().signal;
const FILTER = { organizationId: "org_a" };

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

/** Opens a history whose requests ended within some minutes from noon on. */
async function openDense(rangeMs: number): Promise<RequestHistory> {
  const options = await databases.create("sqlite");
  const database = openDatabase(options);
  closing.defer(() => database.close());
  await database.run(async (executor) => {
    await sql`insert into request_dimensions (id, organization_id, project_id, key_id, operation, status, last_day)
      values (1, 'org_a', 'proj_a', 'key_a', 'chat/completions', 200, 0)`.execute(executor);
    await sql`with recursive r(i) as (select 0 union all select i + 1 from r where i < ${ROWS - 1})
      insert into request_history (id, at, dimension_id, duration_milliseconds, first_token_milliseconds)
      select 'req_' || i, ${NOON} + (i * ${rangeMs}) / ${ROWS}, 1, 100, null from r`.execute(executor);
  });
  const history = new RequestHistory({ database, logger: options.logger, days: 7 });
  closing.defer(() => history.close());
  return history;
}

/** CPU time of reading one day with all requests in one query is 60 ms and more. */
const MAX_TURN_MS = 40;

describe("gives others a turn after some thousand requests", () => {
  test.each([
    ["in a day with traffic throughout", 24 * HOUR_MS, NOON],
    ["in ten seconds after days without traffic", 10_000, NOON - 5 * 24 * HOUR_MS],
  ])("%s", async (_name, rangeMs, from) => {
    const history = await openDense(rangeMs);
    const range = { from, until: NOON + 24 * HOUR_MS, buckets: 6 };
    let sums: Awaited<ReturnType<typeof histogramOf>> = [];
    const limit = ({ totalMs }: { totalMs: number }) => Math.max(MAX_TURN_MS, totalMs / 4);
    await expectTurnsBelow(limit, async () => {
      sums = await histogramOf(history, FILTER, range, IN_TIME);
    });
    expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(ROWS);
  });

  test("when none has a time to the first token", async () => {
    const history = await openDense(HOUR_MS);
    const limit = ({ totalMs }: { totalMs: number }) => totalMs / 3;
    await expectTurnsBelow(limit, async () => {
      expect(await history.firstTokenTimes(FILTER, { from: NOON, until: NOON + HOUR_MS })).toEqual([]);
    });
  });
});

test("finds the oldest request without reading newer ones", async () => {
  const history = await openDense(HOUR_MS);
  await history.find(FILTER, "req_1");
  const one = await longestTurnDuring(async () => {
    expect(await history.find(FILTER, "req_0")).toMatchObject({ id: "req_0", at: NOON });
  });
  const range = { from: NOON, until: NOON + HOUR_MS, buckets: 1 };
  const all = await longestTurnDuring(() => histogramOf(history, FILTER, range, IN_TIME));
  expect(one.totalMs).toBeLessThan(all.totalMs / 10);
});
