import type { Catalog } from "../../catalog/catalog.ts";
import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Accounts } from "../accounts/index.ts";
import type { BodyContent } from "../files/index.ts";
import { moderationPolicy } from "./moderation-policy.ts";
import { moderations } from "./routes.ts";

interface ModerationsParts {
  config: Settings;
  inference: Inference;
  content: BodyContent;
  accounts: Accounts;
  catalog: Catalog;
}

/** The moderation endpoint, and the policies of projects. */
export function moderationFeature({ config, inference, content, accounts, catalog }: ModerationsParts): Feature {
  const { maxModerationInputs, unknownFields } = config.server;
  return {
    project: [moderations(inference, maxModerationInputs, unknownFields, content)],
    admin: [moderationPolicy(accounts, (id) => catalog.find(id)?.model.task === "moderation")],
  };
}
