/** Headers by which clients name an organization and project. */

import type { Caller } from "../../contracts/caller.ts";
import type { ScopeHeaders } from "../../http/authenticate.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database } from "../../storage/database.ts";
import { findOrganization } from "./organizations/organization-queries.ts";
import { findProject } from "./projects/project-queries.ts";

/**
 * Returns the caller, the operator in the organization that the headers name. Throws a Fault when they name another
 * organization or project than the key's; an admin key has all its projects.
 */
export async function applyScopeHeaders(database: Database, caller: Caller, headers: ScopeHeaders): Promise<Caller> {
  const { organization, project } = headers;
  if (caller.isOperator) return operatorIn(database, caller, organization);
  if (organization !== undefined && organization !== caller.organizationId) {
    throw mismatch("OpenAI-Organization", "OPENAI_ORG_ID", "organization");
  }
  if (project === undefined || project === caller.projectId) return caller;
  const isTheirs = caller.kind === "admin" && (await isProjectOf(database, caller.organizationId, project));
  if (!isTheirs) throw mismatch("OpenAI-Project", "OPENAI_PROJECT_ID", "project");
  return caller;
}

async function operatorIn(database: Database, operator: Caller, named: string | undefined): Promise<Caller> {
  const organizationId = named ?? operator.organizationId;
  if (organizationId === "") {
    throw new Fault("not-found", "No organization exists yet. Start the service once to create the default one.");
  }
  if (organizationId === operator.organizationId) return operator;
  const organization = await database.run((executor) => findOrganization(executor, organizationId));
  if (organization === undefined) throw new Fault("not-found", `There is no organization \`${organizationId}\`.`);
  return { ...operator, organizationId };
}

async function isProjectOf(database: Database, organizationId: string, id: string): Promise<boolean> {
  return (await database.run((executor) => findProject(executor, { organizationId, id }))) !== undefined;
}

function mismatch(header: string, variable: string, what: "organization" | "project"): Fault {
  const message = `The header ${header} names another ${what} than the API key's. Clients send it when the environment variable ${variable} is set: unset it, or correct it.`;
  return new Fault("unauthenticated", message, { code: `mismatched_${what}` });
}
