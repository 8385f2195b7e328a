/**
 * Cost of choosing a deployment, and cached prompt tokens by the key of prefix routing.
 * `node bench/load-balancing.ts`
 */

import type { Strategy } from "../src/deployments/routing-options.ts";
import { LoadBalancer } from "../src/inference/routing/load-balancer.ts";
import { openChatDeployment, resolvedModelOf } from "../test/support/upstreams/chat-deployment.ts";
import { type FleetOptions, simulateFleet } from "../test/support/upstreams/fleet-simulation.ts";
import { median } from "./timing.ts";

const CHOICES = 20_000;
const ROUNDS = 5;

console.log("µs of CPU per choice: deployments, strategy, without and with prefix_caching");
for (const count of [1, 2, 64]) {
  for (const strategy of ["ordered", "least_busy", "power_of_two_choices", "weighted"] as const) {
    const costs = [await costOf(count, strategy, false), await costOf(count, strategy, true)];
    console.log(
      `${String(count).padStart(3)} ${strategy.padEnd(22)}${costs.map((us) => us.toFixed(2).padStart(8)).join("")}`,
    );
  }
}

const LOADS: Record<string, Pick<FleetOptions, "systemPrompts" | "systemTokens" | "conversations">> = {
  "1 system prompt of 2,000 tokens": { systemPrompts: 1, systemTokens: 2000, conversations: 6600 },
  "200 of 2,000": { systemPrompts: 200, systemTokens: 2000, conversations: 6600 },
  "1,000 of 4,000": { systemPrompts: 1000, systemTokens: 4000, conversations: 6600 },
  "200 of 2,000, a tenth of the load": { systemPrompts: 200, systemTokens: 2000, conversations: 660 },
};
const fleet = { deployments: 64, strategy: "least_busy", cacheTokens: 100_000, seconds: 200 } as const;
for (const [name, load] of Object.entries(LOADS)) {
  console.log(`\n${name}: key, cached prompt tokens, cached later turns, overflow, highest load / mean`);
  for (const prefix of [undefined, "conversation", "shared", "both"] as const) {
    const { cachedTokens, cachedTurns, overflow, highestLoad } = await simulateFleet({ ...fleet, ...load, prefix });
    const shares = [cachedTokens, cachedTurns, overflow].map((share) => `${(100 * share).toFixed(1)} %`.padStart(9));
    console.log(`${String(prefix).padEnd(14)}${shares.join("")}${highestLoad.toFixed(2).padStart(7)}`);
  }
}

async function costOf(count: number, strategy: Strategy, prefixCaching: boolean): Promise<number> {
  const open = (_each: unknown, index: number) =>
    openChatDeployment(`m@10.0.0.${index}:8000`, { slots: 64, routingOptions: { prefixCaching } });
  const deployments = await Promise.all(Array.from({ length: count }, open));
  const candidate = resolvedModelOf(deployments, { strategy });
  const balancer = new LoadBalancer();
  const shared = "You are a helpful assistant. ".repeat(35);
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let choice = 0; choice < CHOICES; choice += 1) {
      balancer.order(candidate, () => ({ conversation: `${shared}${choice}`, shared: `${choice % 100}${shared}` }));
    }
    const { user, system } = process.cpuUsage(before);
    // The first round warms up.
    if (round > 0) rounds.push((user + system) / CHOICES);
  }
  await Promise.all(deployments.map((deployment) => deployment.close()));
  return median(rounds);
}
