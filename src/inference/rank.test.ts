import { expect, test } from "vitest";
import { LatencyEwma } from "./latency-ewma.ts";
import { orderByPrefixAffinity } from "./prefix-affinity.ts";
import { type Ranked, rank } from "./rank.ts";
import { DEFAULT_ROUTING_OPTIONS, type RoutingOptions } from "./routing-options.ts";

interface Named extends Ranked {
  name: string;
}

interface Given extends Partial<RoutingOptions> {
  inUse?: number;
  waiting?: number;
  count?: number;
  latencySeconds?: number;
}

function deployment(name: string, given: Given = {}): Named {
  const { inUse = 0, waiting = 0, count = 4, latencySeconds, ...routingOptions } = given;
  const latency = new LatencyEwma();
  if (latencySeconds !== undefined) latency.measure(latencySeconds);
  const slots = { inUse, waiting, count, hasFree: inUse < count };
  return { name, routingOptions: { ...DEFAULT_ROUTING_OPTIONS, ...routingOptions }, latency, slots };
}

const names = (ranked: readonly Named[]) => ranked.map(({ name }) => name).join(" ");

test("keeps the configured order for ordered, busy or not", () => {
  expect(names(rank([deployment("a", { inUse: 4 }), deployment("b")], "ordered"))).toBe("a b");
});

test("ranks by price for lowest_cost, with a missing price as free", () => {
  const dear = deployment("dear", { price: { prompt: "0.000002", completion: "0.000008" } });
  const cheap = deployment("cheap", { price: { prompt: "0.0000001", completion: "0.0000004" } });
  expect(names(rank([dear, cheap, deployment("own")], "lowest_cost"))).toBe("own cheap dear");
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
    const [chosen, , last] = rank(deployments, "weighted");
    first[chosen?.name ?? ""] = (first[chosen?.name ?? ""] ?? 0) + 1;
    expect(last?.name).toBe("never");
  }
  expect(first.a).toBeGreaterThan(7200);
  expect(first.a).toBeLessThan(7800);
});

const reusing = { prefixCaching: true };

test("keeps a cache key on one deployment, in any order, and spreads keys over all", () => {
  const deployments = ["a", "b", "c"].map((name) => deployment(name, reusing));
  const homes = new Map<string, number>();
  for (let key = 0; key < 3000; key += 1) {
    const [home] = orderByPrefixAffinity(deployments, `key ${key}`);
    expect(orderByPrefixAffinity([...deployments].reverse(), `key ${key}`)[0]).toBe(home);
    homes.set(home?.name ?? "", (homes.get(home?.name ?? "") ?? 0) + 1);
  }
  for (const count of homes.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  expect(homes.size).toBe(3);
});

test("keeps cache keys in place when another deployment is removed", () => {
  const deployments = ["a", "b", "c"].map((name) => deployment(name, reusing));
  for (let key = 0; key < 300; key += 1) {
    const [home, other] = orderByPrefixAffinity(deployments, `key ${key}`);
    if (other === undefined || home === undefined) throw new Error("no deployments");
    const left = deployments.filter((each) => each === home || each !== other);
    expect(orderByPrefixAffinity(left, `key ${key}`)[0]).toBe(home);
  }
});

test("ignores affinity to a deployment that has no prefix cache, is full or is far busier", () => {
  const plain = [deployment("a"), deployment("b")];
  expect(orderByPrefixAffinity(plain, "key")).toEqual(plain);
  const full = [deployment("other"), deployment("full", { ...reusing, inUse: 4 })];
  expect(names(orderByPrefixAffinity(full, "key"))).toBe("other full");
  const busy = ["a", "b", "c"].map((name) => deployment(name, { ...reusing, count: 100 }));
  const home = orderByPrefixAffinity(busy, "key")[0] as Named;
  home.slots.inUse = 20;
  expect(orderByPrefixAffinity(busy, "key")).toEqual(busy);
});
