/** Finds what a command names, by ID or by name. */

import type { Accounts } from "../features/accounts/accounts.ts";
import type { ApiKey } from "../features/accounts/keys/api-keys.ts";
import type { Organization } from "../features/accounts/organizations/organizations.ts";
import type { Project } from "../features/accounts/projects/projects.ts";
import type { ServiceAccount } from "../features/accounts/service-accounts/service-accounts.ts";
import { Fault } from "../kernel/faults.ts";
import type { Page, PageRequest } from "../storage/page.ts";

const PAGE_SIZE = 100;

export async function allEntries<Entry extends { id: string }>(
  list: (request: PageRequest) => Promise<Page<Entry>>,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const page = await list({ after: entries.at(-1)?.id, limit: PAGE_SIZE, order: "asc" });
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
  }
}

export async function findOrganization(accounts: Accounts, idOrName: string): Promise<Organization> {
  return pick(await accounts.organizations.list(), idOrName, "organization");
}

/** A project of the default organization; undefined names the default project. */
export async function findProject(accounts: Accounts, idOrName: string | undefined): Promise<Project> {
  const { organizationId, projectId } = await accounts.defaultScope("project");
  const projects = await allEntries((request) => accounts.projects.list(organizationId, true, request));
  return pick(projects, idOrName ?? projectId ?? "", "project");
}

/** Names of an organization's projects, also of archived ones, by ID. */
export async function projectNames(accounts: Accounts, organizationId: string): Promise<ReadonlyMap<string, string>> {
  const projects = await allEntries((request) => accounts.projects.list(organizationId, true, request));
  return new Map(projects.map(({ id, name }) => [id, name]));
}

export async function findServiceAccount(
  accounts: Accounts,
  project: Project,
  idOrName: string,
): Promise<ServiceAccount> {
  return pick(
    await allEntries((request) => accounts.serviceAccounts.list(project, request)),
    idOrName,
    "service account",
  );
}

/** All keys of the default organization that are neither revoked nor expired. */
export async function allKeys(accounts: Accounts, kind: ApiKey["kind"]): Promise<ApiKey[]> {
  const { organizationId } = await accounts.defaultScope(kind);
  return allEntries((request) => accounts.apiKeys.list({ organizationId, kind }, request));
}

export async function findKey(accounts: Accounts, idOrName: string): Promise<ApiKey> {
  const keys = [...(await allKeys(accounts, "project")), ...(await allKeys(accounts, "admin"))];
  return pick(keys, idOrName, "API key");
}

/** Throws a Fault where nothing matches, or where several have the name. An ID goes before a name. */
function pick<Entry extends { id: string; name: string }>(
  entries: readonly Entry[],
  idOrName: string,
  noun: string,
): Entry {
  const byId = entries.find(({ id }) => id === idOrName);
  if (byId !== undefined) return byId;
  const byName = entries.filter(({ name }) => name === idOrName);
  const [first] = byName;
  if (first === undefined) throw new Fault("not-found", `There is no ${noun} \`${idOrName}\`.`);
  if (byName.length === 1) return first;
  const ids = byName.map(({ id }) => id).join(", ");
  throw new Fault(
    "conflict",
    `${byName.length} ${noun}s have the name \`${idOrName}\`. Give the ID of the ${noun}: ${ids}.`,
  );
}
