/** The behavior that all backends of the counters share. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../../test/support/databases/postgres.ts";
import { HAS_REDIS, type RedisServer, startRedis, WITHOUT_REDIS } from "../../test/support/databases/redis.ts";
import { workerOf } from "../../test/support/service/worker-counters.ts";
import { createLogger } from "../kernel/logger.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import type { Correction, CounterClaim, Counters, TakenReservation } from "./counters.ts";
import { InMemoryCounters } from "./in-memory-counters.ts";
import { PostgresqlStore } from "./postgresql-store.ts";
import { RedisStore } from "./redis-store.ts";
import { SharedCounters } from "./shared-counters.ts";

let redis: RedisServer | undefined;
beforeAll(async () => {
  if (HAS_REDIS) redis = await startRedis();
});
afterAll(() => redis?.[Symbol.asyncDispose]());

const BACKENDS: Record<string, () => Promise<Counters>> = {
  "in memory": async () => new InMemoryCounters(),
  [`in Redis${WITHOUT_REDIS}`]: async () => {
    if (redis === undefined) throw new Error("there is no Redis");
    return shared(new RedisStore(parseRedisUrl(redis.createDatabase().reveal())));
  },
  "of a worker": async () => workerOf(new InMemoryCounters()),
  "in PostgreSQL": async () => shared(new PostgresqlStore(await (await sharedPostgres()).createDatabase())),
};

async function shared(store: RedisStore | PostgresqlStore): Promise<Counters> {
  const counters = new SharedCounters({ store, logger: createLogger("silent"), onStoreUnavailable: "refuse" });
  await counters.firstAttempt();
  return counters;
}

const MINUTE = { windowSeconds: 60, isReserved: true };

describe.each(Object.entries(BACKENDS))("counters %s", (name, open) => {
  if (name.includes("skipped")) {
    test.skip(name);
    return;
  }
  let counters: Counters;
  const begin = async () => {
    counters = await open();
    return counters;
  };
  afterEach(() => counters.close());

  test("grants until the limit is reached and reports the usage", async () => {
    const { take } = bound(await begin());
    expect(await take([{ key: "a", amount: 6, limit: 10, ...MINUTE }])).toMatchObject({
      granted: true,
      used: { a: 6 },
    });
    expect(await take([{ key: "a", amount: 4, limit: 10, ...MINUTE }])).toMatchObject({
      granted: true,
      used: { a: 10 },
    });
    const refused = await take([{ key: "a", amount: 1, limit: 10, ...MINUTE }]);
    expect(refused).toMatchObject({ granted: false, key: "a", used: { a: 10 } });
    const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThan(60.1);
  });

  test("consumes no limit when one is exhausted", async () => {
    const { take } = bound(await begin());
    const requests = { key: "requests", amount: 1, limit: 100, ...MINUTE };
    const tokens = { key: "tokens", amount: 600, limit: 1000, ...MINUTE };
    await take([requests, tokens]);
    expect(await take([requests, tokens])).toMatchObject({
      granted: false,
      key: "tokens",
      used: { tokens: 600, requests: 1 },
    });
    expect(await take([{ ...requests, amount: 0 }])).toMatchObject({ granted: true, used: { requests: 1 } });
  });

  test("counts two claims on one limit together", async () => {
    const { take } = bound(await begin());
    const claim = { key: "a", amount: 6, limit: 10, ...MINUTE };
    expect(await take([claim, claim])).toMatchObject({ granted: false, key: "a", used: { a: 0 } });
    expect(await take([claim])).toMatchObject({ granted: true });
  });

  test("rejects an amount above the limit", async () => {
    const { take } = bound(await begin());
    const refused = await take([{ key: "a", amount: 11, limit: 10, ...MINUTE }]);
    expect(refused).toEqual({ granted: false, key: "a", used: { a: 0 }, retryAfterSeconds: 60 });
  });

  test("counts keys separately", async () => {
    const { take } = bound(await begin());
    await take([{ key: "a", amount: 10, limit: 10, ...MINUTE }]);
    expect(await take([{ key: "b", amount: 10, limit: 10, ...MINUTE }])).toMatchObject({
      granted: true,
      used: { b: 10 },
    });
  });

  test("frees capacity once the window has passed", async () => {
    const { take } = bound(await begin());
    const claim = { key: "a", amount: 10, limit: 10, windowSeconds: 0.3, isReserved: false };
    await take([claim]);
    await expect.poll(() => take([claim])).toMatchObject({ granted: true, used: { a: 10 } });
  });

  test("releases unused amounts and counts usage beyond the claim", async () => {
    const { take, settle } = bound(await begin());
    const claim = { key: "a", amount: 8, limit: 10, ...MINUTE };
    const first = await granted(take([claim]));
    await settle(first.reservation, [{ ...claim, difference: -5 }]);
    const second = await granted(take([{ ...claim, amount: 7 }]));
    expect(second.used).toEqual({ a: 10 });
    await settle(second.reservation, [{ ...claim, amount: 7, difference: 4 }]);
    expect(await take([{ ...claim, amount: 0, limit: 100 }])).toMatchObject({ used: { a: 14 } });
  });

  test("never releases more than was taken", async () => {
    const { take, settle } = bound(await begin());
    const claim = { key: "a", amount: 3, limit: 10, ...MINUTE };
    const { reservation } = await granted(take([claim]));
    await settle(reservation, [{ ...claim, difference: -50 }]);
    expect(await take([{ key: "a", amount: 11, limit: 10, ...MINUTE }])).toMatchObject({
      granted: false,
      used: { a: 0 },
    });
  });

  test("does not release amounts that left the window before settlement", async () => {
    const { take, settle } = bound(await begin());
    const claim = { key: "a", amount: 5, limit: 10, windowSeconds: 1, isReserved: true };
    const { reservation } = await granted(take([claim]));
    await expect.poll(() => take([{ ...claim, amount: 0 }])).toMatchObject({ used: { a: 0 } });
    const later = await granted(take([claim]));
    await settle(reservation, [{ ...claim, difference: -5 }]);
    const seen = await granted(take([{ ...claim, amount: 0 }]));
    // On a machine that paused for a second in between, the later claim has left the window too.
    expect(seen.used.a).toBe(seen.reservation.takenAt - later.reservation.takenAt < 1_000 ? 5 : 0);
  });

  test("never exceeds the limit under concurrency", async () => {
    const { take } = bound(await begin());
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => take([{ key: "a", amount: 1, limit: 30, ...MINUTE }])),
    );
    expect(answers.filter((answer) => answer.granted)).toHaveLength(30);
  });

  test("counts what records have and it lacks, beside what is reserved", async () => {
    const { take, settle } = bound(await begin());
    const claim = { key: "a", amount: 5, limit: 10, ...MINUTE };
    await Promise.all([6, 4, 6].map((amount) => counters.raise("a", 60, amount)));
    expect(await take([claim])).toMatchObject({ granted: false, used: { a: 6 } });
    const { reservation } = await granted(take([{ ...claim, amount: 3 }]));
    await counters.raise("a", 60, 6);
    expect(await take([{ ...claim, amount: 0 }])).toMatchObject({ used: { a: 9 } });
    await counters.raise("a", 60, 7);
    expect(await take([{ ...claim, amount: 0 }])).toMatchObject({ used: { a: 10 } });
    await settle(reservation, [{ ...claim, amount: 3, difference: -2 }]);
    await counters.raise("a", 60, 8);
    expect(await take([{ ...claim, amount: 0 }])).toMatchObject({ used: { a: 8 } });
    await counters.raise("b", 60, 0);
    expect(await take([{ ...claim, key: "b" }])).toMatchObject({ granted: true });
  });

  test("stays exact for money", async () => {
    const { take, settle } = bound(await begin());
    const month = { key: "spend", windowSeconds: 32 * 86_400, isReserved: true };
    const claim = { ...month, amount: 123_456_789_012_345, limit: Number.MAX_SAFE_INTEGER };
    const { reservation } = await granted(take([claim]));
    await settle(reservation, [{ ...claim, difference: -23_456_789_012_344 }]);
    expect(await take([{ ...claim, amount: 0 }])).toMatchObject({ used: { spend: 100_000_000_000_001 } });
  });
});

function bound(counters: Counters): Pick<Counters, "take" | "settle"> {
  return {
    take: (claims: readonly CounterClaim[]) => counters.take(claims),
    settle: (reservation: TakenReservation, corrections: readonly Correction[]) =>
      counters.settle(reservation, corrections),
  };
}

async function granted(taken: ReturnType<Counters["take"]>) {
  const answer = await taken;
  if (!answer.granted) throw new Error(`not granted: ${JSON.stringify(answer)}`);
  return answer;
}
