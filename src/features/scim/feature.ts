import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import { refuseNul } from "../../http/refuse-nul.ts";
import type { Accounts } from "../accounts/index.ts";
import { scim } from "./routes.ts";

/** Provisioning of users and groups by identity providers (SCIM 2.0). */
export function scimFeature({
  accounts,
  authenticate,
}: {
  accounts: Accounts;
  authenticate: AuthenticateScope;
}): Feature {
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
