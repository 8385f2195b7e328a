import { expect, test } from "vitest";
import { groupByHost, stateColor } from "./deployment-groups.ts";
import type { Deployment } from "./overview-query.ts";

function deployment(index: number, part: Partial<Deployment> = {}): Deployment {
  return {
    ...{ model: "m", task: "chat", deployment: `m${index}`, engine: "openai-compatible", host: `gpu${index % 3}:8000` },
    ...{ state: "up", reason: null, circuit: "closed", device: "upstream", memory_bytes: null, vram_bytes: null },
    ...{ load_seconds: null, loaded_at: null, restarted_at: null, slots: 4, slots_in_use: 1, waiting: 0 },
    ...{ first_token_seconds: null, ...part },
  };
}

test("groups many deployments by host, those in trouble first", () => {
  const all = Array.from({ length: 15 }, (_each, index) =>
    deployment(index, index === 8 ? { circuit: "open", waiting: 2 } : {}),
  );
  const groups = groupByHost([...all, deployment(15, { host: null, device: "cpu", slots: null })]);
  expect(groups?.map(({ host, deployments }) => [host, deployments.length])).toEqual([
    ["gpu2:8000", 5],
    ["gpu0:8000", 5],
    ["gpu1:8000", 5],
    ["This machine", 1],
  ]);
  expect(groups?.[0]).toMatchObject({
    slotsInUse: 5,
    slots: 20,
    waiting: 2,
    deployments: [{ deployment: "m8" }, {}, {}, {}, {}],
  });
});

test("shows few deployments, or those of one host, one by one", () => {
  expect(groupByHost(Array.from({ length: 12 }, (_each, index) => deployment(index)))).toBeUndefined();
  expect(groupByHost(Array.from({ length: 40 }, (_each, index) => deployment(index, { host: "a" })))).toBeUndefined();
});

test("colors a state by what an operator should do", () => {
  const colorOf = (part: Partial<Deployment>) => stateColor(deployment(0, part));
  expect(colorOf({})).toBe("var(--chart-1)");
  expect(colorOf({ state: "unloaded" })).toBe("var(--chart-muted)");
  expect(colorOf({ waiting: 1 })).toBe("var(--chart-2)");
  expect(colorOf({ state: "failed" })).toBe("var(--chart-bad)");
});
