import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, RouteParts } from "../feature.ts";
import { ModelOperations } from "./model-operations.ts";
import { organizationModels } from "./organization-model-routes.ts";
import { models } from "./routes.ts";

/** Listing of models, and administration of local ones. */
export function modelFeature(
  { inference }: RouteParts,
  { accounts, live, store }: { accounts: Accounts; live: LiveCatalog; store: ModelStore },
): Feature {
  const operations = new ModelOperations({ catalog: live.catalog, store, refresh: () => live.refresh() });
  return { project: [models(inference)], admin: [organizationModels(accounts, operations)] };
}
