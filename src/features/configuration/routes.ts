import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { VERSION } from "../../kernel/version.ts";
import { toConfiguration } from "../../wire/openai/organization/organization-configuration.ts";
import { Configuration as ConfigurationAnswer } from "../../wire/openapi/configuration-answers.ts";
import type { Accounts } from "../accounts/index.ts";

type Configuration = Omit<Parameters<typeof toConfiguration>[0], "version">;
/** Returns the configuration in force, without secrets. */
export type ReadConfiguration = () => Configuration;

/** GET /v1/organization/configuration. Settings belong to the installation, so only its own organization sees them. */
export function configuration(accounts: Accounts, read: ReadConfiguration): FastifyPluginAsync {
  return routes(
    operation(
      "GET /configuration",
      {
        summary:
          "Lists the settings in force with their documentation; secrets are redacted. Not in OpenAI's API; admin keys of the default organization only.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.read",
        answer: ConfigurationAnswer,
      },
      async ({ caller }) => {
        if (!(await accounts.organizations.isDefault(caller.organizationId))) {
          throw new Fault("forbidden", "Only the default organization sees the configuration of this installation.");
        }
        return toConfiguration({ ...read(), version: VERSION });
      },
    ),
  );
}
