/** Which service tiers of upstreams a project may use, and which its requests get that name none. */

import type { FastifyPluginAsync } from "fastify";
import type { ServiceTierPolicy } from "../../inference/service-tier.ts";
import {
  ALL_SERVICE_TIERS,
  ProjectServiceTierSettings,
  ServiceTierSettings,
  ServiceTierSettingsBody,
  toServiceTierSettings,
} from "../../wire/openai/organization/service-tier-settings.ts";
import { type Accounts, projectPolicyRoutes, StoredPolicy } from "../accounts/index.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Service tiers of the project; undefined: all. */
    serviceTiers: ServiceTierPolicy | undefined;
  }
}

const stored = new StoredPolicy<ServiceTierSettings>({
  name: "service_tier_settings",
  settings: ServiceTierSettings,
  strictest: { default: "standard", enabled_tiers: [] },
});

export const serviceTierPolicy = stored.forKeys<ServiceTierPolicy | undefined>(
  (settings) => settings && { default: settings.default, enabled: settings.enabled_tiers },
);

/** /v1/organization/projects/{project}/service_tier_settings */
export function serviceTierSettings({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  return projectPolicyRoutes<Partial<ServiceTierSettings>, Partial<ServiceTierSettings>>(transactions, {
    path: "service_tier_settings",
    summaries: {
      retrieve: "Retrieves which service tiers of upstreams a project may use.",
      replace: "Sets which service tiers of upstreams a project may use, and its default; left out: as before.",
    },
    body: ServiceTierSettingsBody,
    answer: ProjectServiceTierSettings,
    find: async (executor, { id }) => (await stored.find(executor, id)) ?? ALL_SERVICE_TIERS,
    toValue: ({ default: tier, enabled_tiers: enabled }) => ({
      ...(tier !== undefined && { default: tier }),
      ...(enabled !== undefined && { enabled_tiers: enabled === "all" ? enabled : [...new Set(enabled)] }),
    }),
    put: async ({ executor, now }, { id }, changes) => {
      const former = (await stored.find(executor, id)) ?? ALL_SERVICE_TIERS;
      await stored.put(executor, id, { ...former, ...changes }, now);
    },
    details: (changes) => ({ serviceTierSettings: changes }),
    toAnswer: (settings) => toServiceTierSettings({ ...ALL_SERVICE_TIERS, ...settings }),
  });
}
