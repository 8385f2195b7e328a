/** Usage of many windows that a replica restores in a store, statement by statement. */

import { afterAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../../test/support/databases/postgres.ts";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../../test/support/databases/redis.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import type { CounterStore } from "./counter-store.ts";
import { SLICES, type Slice, sliceNumber } from "./moving-window.ts";
import { PostgresqlStore } from "./postgresql-store.ts";
import { RedisStore } from "./redis-store.ts";
import { UnconfirmedCounts } from "./unconfirmed-counts.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const STORES: Record<string, () => Promise<CounterStore>> = {
  PostgreSQL: async () => new PostgresqlStore(await (await sharedPostgres()).createDatabase()),
  ...(HAS_REDIS && {
    Redis: async () =>
      new RedisStore(
        parseRedisUrl(
          cleanup
            .use(await startRedis())
            .createDatabase()
            .reveal(),
        ),
      ),
  }),
};
if (!HAS_REDIS) test.skip(`many windows in Redis${WITHOUT_REDIS}`);

const MONTH = 2_678_400;
const WINDOWS = Array.from({ length: 20 }, (_, index) => ({ key: `key ${index}`, windowSeconds: MONTH }));

describe.each(Object.entries(STORES))("in %s", (_name, openStore) => {
  test("restores whole windows in statements of a bounded size, and then what has changed", async () => {
    const store = await openStore();
    cleanup.defer(() => store.close());
    const { now, epoch } = await store.open(() => {});
    await store.join("one", { state: "sharing", epoch, hasCounted: false, reserved: [], share: [] });
    const last = sliceNumber(now, MONTH);
    const used = new Map<string, Slice[]>();
    for (const { key } of WINDOWS) {
      const slices = Array.from({ length: SLICES }, (_, index) => ({ number: last - SLICES + 1 + index, amount: 2 }));
      used.set(key, slices);
    }
    const counts = new UnconfirmedCounts(store, "one");
    const use = (key: string, amount: number) => {
      used.get(key)?.splice(-1, 1, { number: last, amount });
      counts.addWindows([{ key, windowSeconds: MONTH }], now);
    };
    const statements: number[] = [];
    const restore = store.restore.bind(store);
    store.restore = async (replica, windows) => {
      statements.push(windows.reduce((sum, { slices }) => sum + slices.length, 0));
      const work = restore(replica, windows);
      // What is used while a statement runs is sent once more.
      if (statements.length === 1) use("key 0", 5);
      await work;
    };
    const usageIn = ({ key }: { key: string }) => ({ slices: used.get(key) ?? [], reserved: 0 });
    const inStore = async () => {
      const claims = WINDOWS.map((window) => ({ ...window, amount: 0, limit: 1, isReserved: false }));
      return (await store.take("one", "look", claims))?.used;
    };

    counts.addWindows(WINDOWS);
    await counts.restoreMost(usageIn);
    await counts.restoreRest(usageIn);
    expect(statements.reduce((sum, slices) => sum + slices)).toBe(20 * SLICES + 1);
    expect(Math.max(...statements)).toBeLessThanOrEqual(5 * SLICES);
    expect(await inStore()).toEqual([2_003, ...Array(19).fill(2_000)]);

    use("key 7", 9);
    await counts.restoreMost(usageIn);
    await counts.restoreRest(usageIn);
    expect(statements.at(-1)).toBe(1);
    expect((await inStore())?.[7]).toBe(2_007);

    used.clear();
    counts.addWindows(WINDOWS);
    await counts.restoreRest(usageIn);
    expect(await inStore()).toEqual(Array(20).fill(0));
  });
});
