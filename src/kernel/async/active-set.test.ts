import { expect, test } from "vitest";
import { ActiveSet } from "./active-set.ts";

test("keeps items until they are deleted, in any order", () => {
  const inFlight = new ActiveSet<number>();
  const places = Array.from({ length: 20 }, (_, number) => inFlight.add(number));
  for (const number of [19, 0, 7, 18, 3]) inFlight.delete(places[number] as (typeof places)[number]);
  expect(inFlight.size).toBe(15);
  const expected = Array.from({ length: 20 }, (_, number) => number).filter(
    (each) => ![19, 0, 7, 18, 3].includes(each),
  );
  expect([...inFlight].sort((a, b) => a - b)).toEqual(expected);
  const added = inFlight.add(99);
  for (const number of expected) inFlight.delete(places[number] as (typeof places)[number]);
  expect([...inFlight]).toEqual([99]);
  inFlight.delete(added);
  expect(inFlight.size).toBe(0);
});

test("iterates over the initial items while items are deleted", () => {
  const inFlight = new ActiveSet<string>();
  const places = ["a", "b", "c"].map((item) => inFlight.add(item));
  const seen: string[] = [];
  for (const item of inFlight) {
    seen.push(item);
    const entry = places.find((each) => each.item === item);
    if (entry !== undefined) inFlight.delete(entry);
  }
  expect(seen).toEqual(["a", "b", "c"]);
  expect(inFlight.size).toBe(0);
});
