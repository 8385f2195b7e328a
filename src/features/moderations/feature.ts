import type { Feature, ServiceParts } from "../feature.ts";
import { moderationPolicy } from "./policy-routes.ts";
import { moderations } from "./routes.ts";

/** The moderation endpoint, and the policies of projects. */
export function moderationFeature({ config, inference, content, accounts, catalog }: ServiceParts): Feature {
  const { maxModerationInputs, unknownFields } = config.server;
  return {
    project: [moderations(inference, maxModerationInputs, unknownFields, content)],
    admin: [moderationPolicy(accounts, (id) => catalog.find(id)?.model.task === "moderation")],
  };
}
