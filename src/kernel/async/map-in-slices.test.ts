import { expect, test } from "vitest";
import { mapInSlices } from "./map-in-slices.ts";

test("maps items in order and lets timers run between slices", async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const spin = (item: number) => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    return item * 2;
  };
  const items = Array.from({ length: 60 }, (_, index) => index);
  expect(await mapInSlices(items, spin)).toEqual(items.map((item) => item * 2));
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(3);
});

test("rejects with what the conversion throws", async () => {
  const failing = mapInSlices([1], () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
});
