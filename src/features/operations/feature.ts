import type { Config } from "../../config/config.ts";
import { type CountWrongKey, isAdministrator, requireKey } from "../../http/authenticate.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature } from "../feature.ts";
import { type Operations, operations } from "./operations.ts";

/** Health and metrics on the service's own address, unless they have a separate one. */
export function operationsFeature(
  { server, environment }: Config,
  served: Operations,
  { accounts, countWrongKey }: { accounts: Accounts; countWrongKey: CountWrongKey },
): Feature {
  if (server.operations !== undefined) return {};
  const { PARLANCE_METRICS_KEY: metricsKey } = environment;
  return {
    public: [
      operations(served, {
        mayReadDetails: (request) => isAdministrator(request, accounts, countWrongKey),
        checkMetrics: async (request) => {
          if (metricsKey !== undefined) await requireKey(request, metricsKey, countWrongKey);
          return metricsKey !== undefined;
        },
      }),
    ],
  };
}
