import { expect, test } from "vitest";
import { openChatDeployment, resolvedModelOf } from "../../../test/support/upstreams/chat-deployment.ts";
import { type FleetOptions, simulateFleet } from "../../../test/support/upstreams/fleet-simulation.ts";
import { Fault } from "../../kernel/faults.ts";
import { LoadBalancer, type PrefixOutcome } from "./load-balancer.ts";

const routingOptions = { prefixCaching: true };
const open = (names: readonly string[]) =>
  Promise.all(names.map((name) => openChatDeployment(name, { slots: 8, routingOptions })));
const keys = (conversation: string, shared?: string) => () => ({ conversation, shared });

test("asks for no prefix where there is no choice", async () => {
  const deployments = await open(["only"]);
  const candidate = resolvedModelOf(deployments, { strategy: "least_busy" });
  const ordered = new LoadBalancer().order(candidate, () => {
    throw new Error("asked");
  });
  expect(ordered).toBe(deployments);
});

test("prefers the prefix's deployment, then those that the strategy prefers", async () => {
  const deployments = await open(["a", "b", "c", "d"]);
  const candidate = resolvedModelOf(deployments, { strategy: "least_busy" });
  const outcomes: PrefixOutcome[] = [];
  const balancer = new LoadBalancer({ onPrefixRouted: (_model, outcome) => outcomes.push(outcome) });
  const [home] = balancer.order(candidate, keys("one"));
  const others = deployments.filter((each) => each !== home);
  for (const [index, other] of others.entries()) {
    for (let count = 0; count < 3 - index; count += 1) other.slots.take("project");
  }
  expect(balancer.order(candidate, keys("one"))).toEqual([home, ...others.toReversed()]);
  expect(outcomes).toEqual(["home", "home"]);
});

test("reports overflow at the bound, and that the strategy chose when no slot is free", async () => {
  const deployments = await open(["a", "b", "c", "d"]);
  const candidate = resolvedModelOf(deployments, { strategy: "least_busy" });
  const outcomes: PrefixOutcome[] = [];
  const balancer = new LoadBalancer({ onPrefixRouted: (_model, outcome) => outcomes.push(outcome) });
  for (let request = 0; request < 33; request += 1) balancer.order(candidate, keys("hot"))[0]?.slots.take("project");
  expect(outcomes.slice(0, 2)).toEqual(["home", "home"]);
  expect(outcomes.slice(2, 32)).toContain("overflow");
  expect(outcomes.at(-1)).toBe("none");
  expect(deployments.map(({ slots }) => slots.inUse)).toEqual([8, 8, 8, 8]);
});

test("routes by prefix within a pool under ordered, but not between entries", async () => {
  const [own, a, b, c] = await open(["own", "pool@a:1", "pool@b:1", "pool@c:1"]);
  if (own === undefined || a === undefined || b === undefined || c === undefined) throw new Error("no deployments");
  const pool = [a, b, c].map((each) => Object.defineProperty(each, "pool", { value: "pool" }));
  const candidate = resolvedModelOf([own, ...pool], { strategy: "ordered" });
  const balancer = new LoadBalancer();
  const second = new Set<string | undefined>();
  for (let key = 0; key < 40; key += 1) {
    const ordered = balancer.order(candidate, keys(`conversation ${key}`));
    expect(ordered[0]).toBe(own);
    expect(balancer.order(candidate, keys(`conversation ${key}`))[1]).toBe(ordered[1]);
    second.add(ordered[1]?.name);
  }
  expect(second.size).toBe(3);
});

test("gives the prefixes of a deployment with an open circuit to others until it recovers", async () => {
  const deployments = await open(["a", "b", "c"]);
  const candidate = resolvedModelOf(deployments, { strategy: "least_busy" });
  const balancer = new LoadBalancer();
  const [home] = balancer.order(candidate, keys("one"));
  const circuit = home?.circuits.of(candidate.id);
  for (let failure = 0; failure < 5; failure += 1) circuit?.watch().ended(new Fault("upstream-failed", "It broke."));
  const ordered = balancer.order(candidate, keys("one"));
  expect(ordered.at(-1)).toBe(home);
  expect(balancer.order(candidate, keys("one"))[0]).toBe(ordered[0]);
  circuit?.stop();
});

test("hits the caches of simulated engines by conversation and system prompt, within the bound", async () => {
  const fleet = { deployments: 16, strategy: "least_busy", systemPrompts: 100, systemTokens: 2000 } as const;
  const load = { cacheTokens: 60_000, conversations: 400, seconds: 100 };
  const simulate = (prefix: FleetOptions["prefix"]) => simulateFleet({ ...fleet, ...load, prefix });
  const [none, conversation, shared, both] = [
    await simulate(undefined),
    await simulate("conversation"),
    await simulate("shared"),
    await simulate("both"),
  ];
  expect(conversation.cachedTurns).toBeGreaterThan(none.cachedTurns + 0.2);
  expect(both.cachedTokens).toBeGreaterThan(conversation.cachedTokens + 0.05);
  expect(both.cachedTokens).toBeGreaterThan(none.cachedTokens + 0.2);
  expect(both.cachedTurns).toBeGreaterThan(shared.cachedTurns);
  // At the mean of 7 to 8 requests the bound is 1.25 × 8.5.
  for (const { highestLoad } of [conversation, shared, both]) expect(highestLoad).toBeLessThan(1.7);
});
