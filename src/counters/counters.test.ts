/** What every backend of the counters must do. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Counters } from "./counters.ts";
import { InMemoryCounters } from "./in-memory-counters.ts";

const BACKENDS: Record<string, () => Promise<Counters>> = {
  "in memory": async () => new InMemoryCounters(),
};

const MINUTE = { windowSeconds: 60 };

describe.each(Object.entries(BACKENDS))("counters %s", (_name, open) => {
  let counters: Counters;
  const begin = async () => {
    counters = await open();
    return counters;
  };
  afterEach(() => counters.close());

  test("grants until the limit is reached and says how much is in use", async () => {
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
    expect(refused).toMatchObject({ granted: false, key: "a", used: 10 });
    const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThan(60.1);
  });

  test("takes from no limit when one of them lacks room", async () => {
    const { take } = bound(await begin());
    const requests = { key: "requests", amount: 1, limit: 100, ...MINUTE };
    const tokens = { key: "tokens", amount: 600, limit: 1000, ...MINUTE };
    await take([requests, tokens]);
    expect(await take([requests, tokens])).toMatchObject({ granted: false, key: "tokens", used: 600 });
    expect(await take([{ ...requests, amount: 0 }])).toMatchObject({ granted: true, used: { requests: 1 } });
  });

  test("counts two claims on one limit together", async () => {
    const { take } = bound(await begin());
    const claim = { key: "a", amount: 6, limit: 10, ...MINUTE };
    expect(await take([claim, claim])).toMatchObject({ granted: false, key: "a", used: 0 });
    expect(await take([claim])).toMatchObject({ granted: true });
  });

  test("refuses more than the limit, however empty it is", async () => {
    const { take } = bound(await begin());
    const refused = await take([{ key: "a", amount: 11, limit: 10, ...MINUTE }]);
    expect(refused).toEqual({ granted: false, key: "a", used: 0, retryAfterSeconds: 60 });
  });

  test("keeps keys apart", async () => {
    const { take } = bound(await begin());
    await take([{ key: "a", amount: 10, limit: 10, ...MINUTE }]);
    expect(await take([{ key: "b", amount: 10, limit: 10, ...MINUTE }])).toMatchObject({
      granted: true,
      used: { b: 10 },
    });
  });

  test("has room again once the window has passed", async () => {
    const { take } = bound(await begin());
    const claim = { key: "a", amount: 10, limit: 10, windowSeconds: 0.3 };
    await take([claim]);
    await sleep(350);
    expect(await take([claim])).toMatchObject({ granted: true, used: { a: 10 } });
  });

  test("gives back what was not used, and takes what was used beyond the claim", async () => {
    const { take, adjust } = bound(await begin());
    const claim = { key: "a", amount: 8, limit: 10, ...MINUTE };
    const { takenAt } = await granted(take([claim]));
    await adjust({ key: "a", difference: -5, takenAt, ...MINUTE });
    expect(await take([{ ...claim, amount: 7 }])).toMatchObject({ granted: true, used: { a: 10 } });
    await adjust({ key: "a", difference: 4, takenAt, ...MINUTE });
    expect(await take([{ ...claim, amount: 0, limit: 100 }])).toMatchObject({ used: { a: 14 } });
  });

  test("never gives back more than was taken", async () => {
    const { take, adjust } = bound(await begin());
    const { takenAt } = await granted(take([{ key: "a", amount: 3, limit: 10, ...MINUTE }]));
    await adjust({ key: "a", difference: -50, takenAt, ...MINUTE });
    expect(await take([{ key: "a", amount: 11, limit: 10, ...MINUTE }])).toMatchObject({ granted: false, used: 0 });
  });

  test("does not give back to others what left the window before it was settled", async () => {
    const { take, adjust } = bound(await begin());
    const claim = { key: "a", amount: 5, limit: 10, windowSeconds: 1 };
    const { takenAt } = await granted(take([claim]));
    await sleep(1_050);
    const later = await granted(take([claim]));
    await adjust({ key: "a", difference: -5, takenAt, windowSeconds: 1 });
    const seen = await granted(take([{ ...claim, amount: 0 }]));
    // On a machine that paused for a second in between, the later claim has left the window too.
    expect(seen.used.a).toBe(seen.takenAt - later.takenAt < 1_000 ? 5 : 0);
  });

  test("never grants more than the limit to many at once", async () => {
    const { take } = bound(await begin());
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => take([{ key: "a", amount: 1, limit: 30, ...MINUTE }])),
    );
    expect(answers.filter((answer) => answer.granted)).toHaveLength(30);
  });
});

function bound(counters: Counters): Pick<Counters, "take" | "adjust"> {
  return { take: (claims) => counters.take(claims), adjust: (correction) => counters.adjust(correction) };
}

async function granted(taken: ReturnType<Counters["take"]>) {
  const answer = await taken;
  if (!answer.granted) throw new Error(`not granted: ${JSON.stringify(answer)}`);
  return answer;
}
