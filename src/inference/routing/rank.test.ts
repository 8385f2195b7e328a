import { expect, test } from "vitest";
import {
  rankedDeployment as deployment,
  type RankedDeployment,
} from "../../../test/support/upstreams/ranked-deployment.ts";
import { rank } from "./rank.ts";

/** Names within a group are joined by spaces, groups by bars. */
const names = (groups: readonly RankedDeployment[][]) =>
  groups.map((group) => group.map(({ name }) => name).join(" ")).join(" | ");

test("keeps the configured order for ordered, busy or not", () => {
  expect(names(rank([deployment("a", { inUse: 4 }), deployment("b")], "ordered"))).toBe("a | b");
});

test("ranks by price for lowest_cost, with a missing price as free", () => {
  const dear = deployment("dear", { price: { prompt: "0.000002", completion: "0.000008" } });
  const cheap = deployment("cheap", { price: { prompt: "0.0000001", completion: "0.0000004" } });
  expect(names(rank([dear, cheap, deployment("own")], "lowest_cost"))).toBe("own | cheap | dear");
});

test("ranks by the recent time to first token for lowest_latency, and tries unmeasured deployments", () => {
  const slow = deployment("slow", { latencySeconds: 2 });
  const quick = deployment("quick", { latencySeconds: 0.1 });
  expect(names(rank([slow, quick, deployment("new")], "lowest_latency"))).toBe("new quick slow");
});

test("ranks by requests per slot for least_busy, with no limit counted as the largest one", () => {
  const half = deployment("half", { inUse: 4, count: 8 });
  const quarter = deployment("quarter", { inUse: 1, count: 4 });
  const unbounded = deployment("unbounded", { inUse: 3, count: Number.POSITIVE_INFINITY });
  expect(names(rank([half, unbounded, quarter], "least_busy"))).toBe("quarter unbounded half");
});

test("prefers deployments with a free slot", () => {
  const full = deployment("full", { inUse: 4, latencySeconds: 0.1 });
  const free = deployment("free", { latencySeconds: 3 });
  expect(names(rank([full, free], "lowest_latency"))).toBe("free full");
});

test("distributes by weight for weighted, and ranks weight 0 last", () => {
  const deployments = [
    deployment("a", { weight: 3 }),
    deployment("b", { weight: 1 }),
    deployment("never", { weight: 0 }),
  ];
  const first: Record<string, number> = { a: 0, b: 0, never: 0 };
  for (let round = 0; round < 10_000; round += 1) {
    const [[chosen, , last] = []] = rank(deployments, "weighted");
    first[chosen?.name ?? ""] = (first[chosen?.name ?? ""] ?? 0) + 1;
    expect(last?.name).toBe("never");
  }
  expect(first.a).toBeGreaterThan(7200);
  expect(first.a).toBeLessThan(7800);
});

test("counts what the engine serves for others in least_busy", () => {
  const alone = deployment("alone", { inUse: 3, count: 100 });
  const shared = deployment("shared", { inUse: 1, count: 100, others: 5 });
  expect(names(rank([shared, alone], "least_busy"))).toBe("alone shared");
});

test("prefers engines that are not saturated by their own metrics", () => {
  const queued = deployment("queued", { engineWaiting: 5, others: 5 });
  const full = deployment("full", { cacheUsage: 0.97 });
  const busy = deployment("busy", { inUse: 60, count: 100 });
  expect(names(rank([queued, full, busy], "least_busy"))).toMatch(/^busy /);
});

test("distributes ties of least_busy evenly", () => {
  const deployments = Array.from({ length: 8 }, (_, index) => deployment(`d${index}`));
  const first = new Map<string, number>();
  for (let round = 0; round < 8000; round += 1) {
    const name = rank(deployments, "least_busy")[0]?.[0]?.name ?? "";
    first.set(name, (first.get(name) ?? 0) + 1);
  }
  for (const count of first.values()) expect(Math.abs(count - 1000)).toBeLessThan(200);
  expect(first.size).toBe(8);
});

test("tries the less busy one of two at random for power_of_two_choices, and never the busiest first", () => {
  const deployments = [0, 1, 2, 3].map((inUse) => deployment(`d${inUse}`, { inUse, count: 100 }));
  const first = [0, 0, 0, 0];
  for (let round = 0; round < 6000; round += 1) {
    const [group = []] = rank(deployments, "power_of_two_choices");
    expect(new Set(group).size).toBe(4);
    const inUse = group[0]?.slots.inUse ?? 0;
    first[inUse] = (first[inUse] ?? 0) + 1;
  }
  // Of six pairs, three contain the least busy one, two the next.
  expect(first[0]).toBeGreaterThan(2800);
  expect(first[1]).toBeGreaterThan(1800);
  expect(first[3]).toBe(0);
});

test("keeps the load even with power_of_two_choices over stale loads, where least_busy floods one deployment", () => {
  const highest = (strategy: "least_busy" | "power_of_two_choices") => {
    const deployments = Array.from({ length: 16 }, (_, index) =>
      deployment(`d${index}`, { count: 1000, others: index }),
    );
    // Four replicas see the same loads, and each of them only its own 16 requests.
    const placed = new Map<string, number>();
    for (let replica = 0; replica < 4; replica += 1) {
      const seen = deployments.map((each) => ({ ...each, slots: { ...each.slots } }));
      for (let request = 0; request < 16; request += 1) {
        const chosen = rank(seen, strategy)[0]?.[0];
        if (chosen === undefined) throw new Error("no deployment");
        chosen.slots.inUse += 1;
        placed.set(chosen.name, (placed.get(chosen.name) ?? 0) + 1);
      }
    }
    return Math.max(...deployments.map(({ name, engineLoad }) => (placed.get(name) ?? 0) + (engineLoad?.others ?? 0)));
  };
  const average = (strategy: Parameters<typeof highest>[0]) =>
    Array.from({ length: 50 }, () => highest(strategy)).reduce((sum, each) => sum + each, 0) / 50;
  expect(average("power_of_two_choices")).toBeLessThan(average("least_busy"));
});

test("orders the endpoints of one pool by their load under ordered, and backups last", () => {
  const endpoint = (name: string, inUse: number, weight = 1) => ({
    ...deployment(name, { inUse, weight, count: 10 }),
    pool: "pool",
  });
  const pool = [endpoint("a", 4), endpoint("backup", 0, 0), endpoint("b", 1)];
  expect(names(rank([deployment("own", { inUse: 4 }), ...pool, deployment("last")], "ordered"))).toBe(
    "own | b a backup | last",
  );
});
