import { loadConfig } from "../config/load-config.ts";
import { configSources } from "./config-sources.ts";
import { openConfiguredStore } from "./configured-store.ts";
import { inProcessClient, type ServiceClient } from "./service-client.ts";
import { findOrigin, type ServiceOptions, withService } from "./with-service.ts";

/**
 * Runs `work` with the routes on models of the running service, which unloads what it removes, or of this process where
 * none runs. The store has locks of its own, so that a service may start during a download.
 */
export async function withModels(
  options: ServiceOptions,
  work: (client: ServiceClient) => Promise<void>,
): Promise<void> {
  if ((await findOrigin(options)) !== undefined) return withService("admin", options, work);
  const { openModelRoutes } = await import("./local-routes.ts");
  await using lifetime = new AsyncDisposableStack();
  const store = await openConfiguredStore("write");
  await work(inProcessClient(openModelRoutes(await loadConfig(configSources()), store, lifetime)));
  await store.settled();
}
