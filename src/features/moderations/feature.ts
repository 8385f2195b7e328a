import type { Catalog } from "../../catalog/catalog.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, RouteParts } from "../feature.ts";
import { moderationPolicy } from "./policy-routes.ts";
import { moderations } from "./routes.ts";

/** The moderation endpoint, and the policies of projects. */
export function moderationFeature(
  { config, inference, content }: RouteParts,
  accounts: Accounts,
  catalog: Catalog,
): Feature {
  const { maxModerationInputs, unknownFields } = config.server;
  return {
    project: [moderations(inference, maxModerationInputs, unknownFields, content)],
    admin: [moderationPolicy(accounts, (id) => catalog.find(id)?.model.task === "moderation")],
  };
}
