import { expect, test } from "vitest";
import type { Model } from "../contracts/engine.ts";
import { Deployment } from "../deployments/deployment.ts";
import { DEFAULT_POLICY, DEFAULT_ROUTING_OPTIONS } from "../deployments/routing-options.ts";
import type { CatalogModel } from "./catalog.ts";
import { UpstreamModels } from "./upstream-models.ts";

function makeWildcard(): CatalogModel {
  const opened = {
    task: "chat",
    slots: undefined,
    device: "upstream",
    health: () => ({ state: "up" }),
    listModels: async () => ["small", "large"],
    close: async () => {},
  } as unknown as Model;
  const deployment = new Deployment({
    name: "vendor/*",
    engine: "openai-compatible",
    isUpstream: true,
    task: "chat",
    routingOptions: DEFAULT_ROUTING_OPTIONS,
    open: async () => opened,
    onOpenFailure: () => {},
  });
  deployment.start();
  return {
    id: "vendor/*",
    task: "chat",
    isBuiltin: false,
    createdAt: 1,
    ownedBy: "parlance",
    license: undefined,
    accessGroups: [],
    aliases: [],
    isHidden: false,
    price: {},
    fallbacks: [],
    routing: DEFAULT_POLICY,
    deployments: [deployment],
    pools: [],
  };
}

test("lists upstream models while the database is unavailable", async () => {
  const see = () => Promise.reject(new Error("the database is unavailable"));
  const upstreamModels = new UpstreamModels({ see, onFailure: () => {} });
  const wildcard = makeWildcard();
  upstreamModels.watch([wildcard]);
  // An unhandled rejection would end the service, so it fails the run.
  await expect.poll(() => upstreamModels.under(wildcard).map(({ id }) => id)).toEqual(["vendor/large", "vendor/small"]);
  upstreamModels.stop();
});
