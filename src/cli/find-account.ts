/** Finds what a command names, by ID or by name. */

import { Fault } from "../kernel/faults.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import type {
  Organization,
  OrganizationApiKey,
  OrganizationList,
  OwnOrganization,
  Project,
  ServiceAccount,
} from "../wire/openapi/organization-answers.ts";
import type { ServiceClient } from "./service-client.ts";

export type ListedKey = AnswerOf<typeof OrganizationApiKey>;
export type ListedOrganization = AnswerOf<typeof Organization>;
export type ListedProject = AnswerOf<typeof Project>;
export type ListedServiceAccount = AnswerOf<typeof ServiceAccount>;

const ROOT = "/v1/organization";
const PAGE_SIZE = 100;

export const projectPath = ({ id }: { id: string }) => `${ROOT}/projects/${id}`;

/** Reads every page of a list. */
export async function allEntries<Entry extends { id: string }>(
  client: ServiceClient,
  path: string,
  query: Record<string, string> = {},
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.id;
    const parameters = new URLSearchParams({
      ...query,
      limit: String(PAGE_SIZE),
      ...(after !== undefined && { after }),
    });
    const page = await client.read<{ data: Entry[]; has_more: boolean }>("GET", `${path}?${parameters}`);
    entries.push(...page.data);
    if (!page.has_more) return entries;
  }
}

export async function allOrganizations(client: ServiceClient): Promise<readonly ListedOrganization[]> {
  return (await client.read<AnswerOf<typeof OrganizationList>>("GET", "/v1/organizations")).data;
}

export async function findOrganization(client: ServiceClient, idOrName: string): Promise<ListedOrganization> {
  return pick(await allOrganizations(client), idOrName, "organization");
}

/** Projects of the client's organization. */
export async function allProjects(
  client: ServiceClient,
  { includesArchived = true }: { includesArchived?: boolean } = {},
): Promise<ListedProject[]> {
  return allEntries(client, `${ROOT}/projects`, { include_archived: String(includesArchived) });
}

export async function defaultProjectId(client: ServiceClient): Promise<string | undefined> {
  const organization = await client.read<AnswerOf<typeof OwnOrganization>>("GET", ROOT);
  return organization.default_project?.id;
}

/** Undefined names the default project. Throws a Fault where there is none. */
export async function findProject(client: ServiceClient, idOrName: string | undefined): Promise<ListedProject> {
  const projectRef = idOrName ?? (await defaultProjectId(client));
  if (projectRef !== undefined) return pick(await allProjects(client), projectRef, "project");
  throw new Fault("not-found", "This organization has no default project. Name one with --project.");
}

export async function findServiceAccount(
  client: ServiceClient,
  project: ListedProject,
  idOrName: string,
): Promise<ListedServiceAccount> {
  return pick(await allServiceAccounts(client, project), idOrName, "service account");
}

export async function allServiceAccounts(client: ServiceClient, project: ListedProject) {
  return allEntries<ListedServiceAccount>(client, `${projectPath(project)}/service_accounts`);
}

/** Keys that are not revoked, those of projects first. */
export async function allKeys(client: ServiceClient, projectId?: string): Promise<ListedKey[]> {
  const query: Record<string, string> = projectId === undefined ? {} : { project_id: projectId };
  const keys = await allEntries<ListedKey>(client, `${ROOT}/api_keys`, query);
  const isAdmin = ({ kind }: ListedKey) => (kind === "admin" ? 1 : 0);
  return keys.toSorted((a, b) => isAdmin(a) - isAdmin(b));
}

export async function findKey(client: ServiceClient, idOrName: string): Promise<ListedKey> {
  return pick(await allKeys(client), idOrName, "API key");
}

/** Throws a Fault where nothing matches, or where several have the name. An ID goes before a name. */
export function pick<Entry extends { id: string; name: string }>(
  entries: readonly Entry[],
  idOrName: string,
  noun: string,
): Entry {
  const entry = entries.find(({ id }) => id === idOrName);
  if (entry !== undefined) return entry;
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
