import type { FastifyPluginAsync } from "fastify";
import { Fault } from "../../kernel/faults.ts";
import { VERSION } from "../../kernel/version.ts";
import { toConfiguration } from "../../wire/openai/organization/organization-configuration.ts";
import type { Accounts } from "../accounts/accounts.ts";

type Configuration = Omit<Parameters<typeof toConfiguration>[0], "version">;
/** Returns the configuration in force, without secrets. */
export type ReadConfiguration = () => Configuration;

/** GET /v1/organization/configuration. Settings belong to the installation, so only its own organization sees them. */
export function configuration(accounts: Accounts, read: ReadConfiguration): FastifyPluginAsync {
  return async (app) => {
    app.get("/configuration", async ({ caller }) => {
      if (!(await accounts.organizations.isDefault(caller.organizationId))) {
        throw new Fault("forbidden", "Only the default organization sees the configuration of this installation.");
      }
      return toConfiguration({ ...read(), version: VERSION });
    });
  };
}
