import { expect, onTestFinished, test } from "vitest";
import type { ModelSpec } from "../catalog/build-catalog.ts";
import { DEFAULT_POLICY, DEFAULT_ROUTING_OPTIONS } from "../deployments/routing-options.ts";
import { createLogger } from "../kernel/logger.ts";
import { WorkerCatalog } from "./worker-catalog.ts";

const SETTINGS = { baseUrl: "http://127.0.0.1:1", model: "inner" };
/** Opening it imports the code of its engine, which takes many turns of the event loop. */
const SLOW: ModelSpec = {
  id: "slow",
  task: "chat",
  isBuiltin: false,
  ownedBy: "parlance",
  license: undefined,
  aliases: [],
  isHidden: false,
  accessGroups: [],
  price: {},
  fallbacks: [],
  routing: DEFAULT_POLICY,
  deployments: [{ engine: "anthropic", settings: SETTINGS, routingOptions: DEFAULT_ROUTING_OPTIONS }],
};

test("keeps the latest models when earlier ones take longer to open", async () => {
  const worker = new WorkerCatalog(createLogger("silent"), () => {});
  onTestFinished(() => worker.close());
  await Promise.all([worker.apply([SLOW]), worker.apply([])]);
  expect([...worker.catalog.models]).toEqual([]);
});
