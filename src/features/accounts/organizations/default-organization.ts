/** Operations that concern the installation, which only the default organization administers. */

import type { FastifyInstance } from "fastify";
import { Fault } from "../../../kernel/faults.ts";
import type { Accounts } from "../accounts.ts";

export const WRITE = {
  tag: "Organization",
  permission: "admin",
  requires: "organization.configuration.write",
} as const;
export const READ = { tag: "Organization", permission: "admin", requires: "organization.read" } as const;

/** Settings belong to the installation, so only its own organization sees and changes them. */
export function requireDefaultOrganization(app: FastifyInstance, accounts: Accounts): void {
  app.addHook("preHandler", async ({ caller }) => {
    if (await accounts.organizations.isDefault(caller.organizationId)) return;
    throw new Fault("forbidden", "Only the default organization configures this installation.");
  });
}
