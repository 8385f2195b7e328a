import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request, retrieveOrNull } from "../../api/request.ts";

export type Project = Answers["Project"];

export type ServiceAccount = Answers["ServiceAccount"];

export type RateLimit = Answers["RateLimit"];

export type ModelPermissions = Omit<Answers["ProjectModelPermissions"], "object">;

const PROJECTS = "v1/organization/projects";

export const pathOf = (project: string) => `${PROJECTS}/${encodeURIComponent(project)}`;

export const keyPath = (project: string, key: string) => `${pathOf(project)}/api_keys/${encodeURIComponent(key)}`;

/** The API's number for a rate that is not limited. */
export const UNLIMITED = 1_000_000_000;

export const projectsQuery = (includeArchived: boolean) =>
  queryOptions({
    queryKey: ["projects", includeArchived],
    queryFn: ({ signal }) => listAll<Project>(PROJECTS, { include_archived: includeArchived }, signal),
  });

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ["project", id],
    queryFn: ({ signal }) => request<Project>(pathOf(id), { signal }),
  });

/** Prefix of the queries of service accounts, to be invalidated after a change. */
export const ACCOUNTS = ["service-accounts"];

export const accountPath = (project: string, account: string) =>
  `${pathOf(project)}/service_accounts/${encodeURIComponent(account)}`;

export const accountQuery = (project: string, account: string) =>
  queryOptions({
    queryKey: [...ACCOUNTS, project, account],
    queryFn: ({ signal }) => request<ServiceAccount>(accountPath(project, account), { signal }),
  });

export const rateLimitsQuery = (id: string) =>
  queryOptions({
    queryKey: ["project", id, "rate-limits"],
    queryFn: ({ signal }) => listAll<RateLimit>(`${pathOf(id)}/rate_limits`, {}, signal),
  });

/** Permissions of an organization or project, by its path. */
export const permissionsQuery = (owner: string) =>
  queryOptions({
    queryKey: ["permissions", owner],
    queryFn: ({ signal }) => retrieveOrNull<ModelPermissions>(`${owner}/model_permissions`, signal),
  });

export function createProject(name: string): Promise<Project> {
  return request(PROJECTS, { method: "POST", body: { name } });
}

/** Creates a key with a service account of the same name; resolves with the secret. */
export async function createKey(project: string, name: string, expiresInSeconds: number | null): Promise<string> {
  const body = { name, expires_in_seconds: expiresInSeconds };
  const path = `${pathOf(project)}/service_accounts`;
  const account = await request<{ api_key: { value: string } }>(path, { method: "POST", body });
  return account.api_key.value;
}
