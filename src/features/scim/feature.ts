import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import { refuseNul } from "../../http/refuse-nul.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Accounts } from "../accounts/index.ts";
import { scim } from "./routes.ts";

/** Provisioning of users and groups by identity providers (SCIM 2.0). */
export function scimFeature({
  accounts,
  authenticate,
  config,
}: {
  accounts: Accounts;
  authenticate: AuthenticateScope;
  config: Pick<Settings, "signOn">;
}): Feature {
  return {
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            authenticate(scope, "admin");
            refuseNul(scope);
            scope.register(scim(accounts, config.signOn.providers));
          },
          { prefix: "/scim/v2" },
        );
      },
    ],
  };
}
