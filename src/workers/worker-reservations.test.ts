import { expect, test } from "vitest";
import { InMemoryCounters } from "../counters/in-memory-counters.ts";
import { WorkerReservations } from "./worker-reservations.ts";

const CLAIM = { key: "running", limit: 2, windowSeconds: 60, amount: 1, isReserved: true };
const COUNTED = { ...CLAIM, key: "requests", limit: 100, isReserved: false };

test("releases what a worker reserved when it ends, also what it takes then, and keeps what it counted", async () => {
  const counters = new InMemoryCounters();
  const [ended, other] = [new WorkerReservations(counters), new WorkerReservations(counters)];
  await ended.take("1", [CLAIM, COUNTED]);
  await other.take("1", [CLAIM, COUNTED]);
  expect(await other.take("2", [CLAIM])).toMatchObject({ granted: false });
  const late = ended.take("2", [{ ...CLAIM, key: "late" }]);
  await ended.release();
  await late;
  expect(await other.take("3", [CLAIM])).toMatchObject({ granted: true, used: { running: 2 } });
  expect(await other.take("4", [{ ...CLAIM, key: "late", amount: 0 }])).toMatchObject({ used: { late: 0 } });
  expect(await other.take("5", [{ ...COUNTED, amount: 0 }])).toMatchObject({ used: { requests: 2 } });
});

test("settles a reservation once", async () => {
  const counters = new InMemoryCounters();
  const reservations = new WorkerReservations(counters);
  const tokens = { ...CLAIM, key: "tokens", limit: 100, amount: 80 };
  await reservations.take("1", [tokens]);
  for (let times = 0; times < 2; times += 1) await reservations.settle("1", [{ ...tokens, difference: -50 }]);
  await reservations.release();
  expect(await reservations.take("2", [{ ...tokens, amount: 0 }])).toMatchObject({ used: { tokens: 30 } });
});
