import { refuseNul } from "../../http/refuse-nul.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { scim } from "./routes.ts";

/** Provisioning of users and groups by identity providers (SCIM 2.0). */
export function scimFeature({ accounts, authenticate }: Pick<ServiceParts, "accounts" | "authenticate">): Feature {
  return {
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            authenticate(scope, "admin");
            refuseNul(scope);
            scope.register(scim(accounts));
          },
          { prefix: "/scim/v2" },
        );
      },
    ],
  };
}
