import { expect, test } from "vitest";
import { FairTurns } from "./fair-turns.ts";

/** Works that `endNext` ends, and the order in which they began. */
function worksOf(turns: FairTurns) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (project: string, signal?: AbortSignal) =>
    turns.run(project, signal, async () => {
      begun.push(project);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      await promise;
    });
  return { begun, run, endNext: () => ends.shift()?.() };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("gives the next slot to the project that holds the fewest", async () => {
  const { begun, run, endNext } = worksOf(new FairTurns({ slots: 2 }));
  for (const project of ["many", "many", "many", "many", "few"]) void run(project);
  await settle();
  expect(begun).toEqual(["many", "many"]);
  endNext();
  await settle();
  expect(begun).toEqual(["many", "many", "few"]);
});

test("keeps slots from a project that holds its most", async () => {
  const { begun, run } = worksOf(new FairTurns({ slots: 2, maxHeld: 1 }));
  for (const project of ["many", "many", "few"]) void run(project);
  await settle();
  expect(begun).toEqual(["many", "few"]);
});

test("lets no work begin whose signal has aborted, and gives its slot to the next", async () => {
  const { begun, run, endNext } = worksOf(new FairTurns({ slots: 1 }));
  const leaving = new AbortController();
  void run("one");
  const left = run("two", leaving.signal);
  void run("three");
  leaving.abort();
  await left;
  await run("four", AbortSignal.abort());
  endNext();
  await settle();
  expect(begun).toEqual(["one", "three"]);
});
