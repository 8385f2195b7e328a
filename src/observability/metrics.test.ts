import { afterEach, expect, test, vi } from "vitest";
import type { DeploymentMeasure } from "./deployment-measure.ts";
import { Metrics } from "./metrics.ts";

afterEach(() => vi.useRealTimers());

test("removes the series of an endpoint some minutes after it has left, unless it is back", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  let deployments: DeploymentMeasure[] = [];
  const metrics = new Metrics({ deployments: () => deployments, pools: () => [] });
  const names = ["chat@10.0.0.1:8000", "chat@10.0.0.2:8000"];
  for (const deployment of names) {
    metrics.attempt({ model: "chat", deployment, outcome: "begun", queuedSeconds: 0.1 });
    metrics.inference({
      model: "chat",
      deployment,
      firstTokenSeconds: 1,
      promptTokens: 1,
      cachedTokens: 1,
      completionTokens: 1,
    });
  }
  const linesOf = async (name: string) =>
    (await metrics.scrape()).text.split("\n").filter((line) => line.includes(name));
  const [left = "", back = ""] = names;
  const before = await linesOf(left);
  for (const name of names) metrics.deploymentLeft(name);
  vi.setSystemTime(Date.now() + 60_000);
  expect(await linesOf(left)).toEqual(before);
  const { isUp, isCircuitOpen, waiting, slotsInUse } = { isUp: true, isCircuitOpen: false, waiting: 0, slotsInUse: 0 };
  const rest = { memoryBytes: undefined, loadSeconds: undefined, engineLoad: undefined };
  deployments = [{ model: "chat", deployment: back, isUp, isCircuitOpen, waiting, slotsInUse, ...rest }];
  vi.setSystemTime(Date.now() + 300_000);
  expect(await linesOf(left)).toEqual([]);
  expect((await linesOf(back)).length).toBeGreaterThan(before.length);
});
