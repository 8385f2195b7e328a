import { expect, test } from "vitest";
import { type RankedDeployment, rankedDeployment } from "../../../test/support/upstreams/ranked-deployment.ts";
import { choosePrefixHome, hashPrefix } from "./prefix-affinity.ts";

const LOAD_FACTOR = 1.25;

const endpoints = (count: number, given: Parameters<typeof rankedDeployment>[1] = {}): RankedDeployment[] =>
  Array.from({ length: count }, (_, index) =>
    rankedDeployment(`model@10.0.0.${index}:8000`, { prefixCaching: true, count: 1000, ...given }),
  );

const choose = (deployments: readonly RankedDeployment[], conversation: string, shared?: string, groupSize = 1) => {
  const keys = {
    conversation: hashPrefix(conversation),
    shared: shared === undefined ? undefined : hashPrefix(shared),
  };
  return choosePrefixHome(deployments, keys, shared === undefined ? deployments.length : groupSize, LOAD_FACTOR);
};

const homeOf = (...parameters: Parameters<typeof choose>) => choose(...parameters).chosen?.name;

test("spreads conversations evenly over 64 deployments, in any order of them", () => {
  const deployments = endpoints(64);
  const reversed = deployments.toReversed();
  const counts = new Map<string, number>();
  for (let key = 0; key < 12_800; key += 1) {
    const home = homeOf(deployments, `conversation ${key}`) ?? "";
    if (key < 200) expect(homeOf(reversed, `conversation ${key}`)).toBe(home);
    counts.set(home, (counts.get(home) ?? 0) + 1);
  }
  expect(counts.size).toBe(64);
  // Five standard deviations of a uniform choice.
  for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(71);
});

test("chooses the same deployment in every process and version", () => {
  const homes = ["a", "b", "c", "d"].map((key) => homeOf(endpoints(64), key));
  expect(homes).toMatchInlineSnapshot(`
    [
      "model@10.0.0.61:8000",
      "model@10.0.0.55:8000",
      "model@10.0.0.4:8000",
      "model@10.0.0.53:8000",
    ]
  `);
});

test("moves only the conversations of the deployment that leaves", () => {
  const before = endpoints(64);
  const after = before.filter((_, index) => index !== 17);
  let moved = 0;
  for (let key = 0; key < 6400; key += 1) {
    const home = homeOf(before, `conversation ${key}`);
    if (homeOf(after, `conversation ${key}`) === home) continue;
    expect(home).toBe(before[17]?.name);
    moved += 1;
  }
  expect(moved).toBeGreaterThan(50);
  expect(moved).toBeLessThan(150);
});

test("moves few conversations with a long system prompt when a deployment leaves or their group grows", () => {
  const before = endpoints(64);
  const after = before.filter((_, index) => index !== 17);
  let left = 0;
  let grown = 0;
  for (let key = 0; key < 6400; key += 1) {
    const shared = `prompt ${key % 100}`;
    const home = homeOf(before, `conversation ${key}`, shared, 4);
    if (homeOf(after, `conversation ${key}`, shared, 4) !== home) left += 1;
    if (homeOf(before, `conversation ${key}`, shared, 8) !== home) grown += 1;
  }
  // The group of four changes one of its members with a probability of 4 in 64; then up to half of it moves.
  expect(left / 6400).toBeLessThan(0.05);
  expect(grown / 6400).toBeGreaterThan(0.4);
  expect(grown / 6400).toBeLessThan(0.6);
});

test("distributes by weight", () => {
  const [heavy, light] = [rankedDeployment("heavy", { weight: 3 }), rankedDeployment("light")];
  let heavies = 0;
  for (let key = 0; key < 4000; key += 1) heavies += Number(homeOf([heavy, light], `key ${key}`) === "heavy");
  expect(heavies / 4000).toBeCloseTo(0.75, 1);
});

test("sends requests with one system prompt to as many deployments as its group has", () => {
  const deployments = endpoints(64);
  for (const groupSize of [1, 4, 16]) {
    const homes = new Set<string | undefined>();
    for (let key = 0; key < 500; key += 1) homes.add(homeOf(deployments, `conversation ${key}`, "prompt", groupSize));
    expect(homes.size).toBe(groupSize);
  }
});

test("never gives a deployment more than its bound, whatever the keys", () => {
  const deployments = endpoints(16);
  let overflows = 0;
  for (let request = 1; request <= 800; request += 1) {
    // One key in two is the same for all.
    const { chosen, isOverflow } = choose(deployments, request % 2 === 0 ? "hot" : `key ${request}`);
    if (chosen === undefined) throw new Error("no deployment under its bound");
    expect(chosen.slots.inUse).toBeLessThan(Math.ceil(LOAD_FACTOR * ((request - 1) / 16 + 1)));
    chosen.slots.inUse += 1;
    overflows += Number(isOverflow);
  }
  expect(overflows).toBeGreaterThan(100);
});

test("gives the overflow of one prefix to the same next deployment", () => {
  const deployments = endpoints(16, { inUse: 10 });
  const home = choose(deployments, "hot").chosen as RankedDeployment;
  home.slots.inUse = 20;
  const next = choose(deployments, "hot");
  expect(next).toMatchObject({ isOverflow: true });
  expect(next.chosen).not.toBe(home);
  for (let round = 0; round < 10; round += 1) expect(choose(deployments, "hot").chosen).toBe(next.chosen);
  home.slots.inUse = 10;
  expect(choose(deployments, "hot")).toEqual({ chosen: home, isOverflow: false });
});

test("counts what the engine serves for others toward the bound", () => {
  const deployments = endpoints(16, { inUse: 10, others: 0 });
  const home = choose(deployments, "key").chosen as RankedDeployment;
  const load = home.engineLoad;
  if (load === undefined) throw new Error("no load");
  load.others = 12;
  expect(choose(deployments, "key").isOverflow).toBe(true);
});

test("skips deployments without a free slot or with a full cache, and chooses none if all are", () => {
  const deployments = endpoints(4, { count: 4, cacheUsage: 0 });
  const home = choose(deployments, "key").chosen as RankedDeployment;
  home.slots.inUse = 4;
  expect(choose(deployments, "key").isOverflow).toBe(true);
  for (const { engineLoad } of deployments) if (engineLoad !== undefined) engineLoad.cacheUsage = 0.99;
  expect(choose(deployments, "key").chosen).toBeUndefined();
});
