import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";

export const USERS = ["users"];
export const INVITES = ["invites"];
export const GROUPS = ["groups"];
export const ROLES = ["roles"];

export type User = Answers["User"];

export const pathOfUser = (id: string) => `v1/organization/users/${encodeURIComponent(id)}`;

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: [...USERS, id],
    queryFn: ({ signal }) => request<User>(pathOfUser(id), { signal }),
  });

export const groupsQuery = queryOptions({
  queryKey: GROUPS,
  queryFn: ({ signal }) => listAll<Answers["Group"]>("v1/organization/groups", {}, signal),
});

export function rolesPath(project?: string): string {
  return project === undefined ? "v1/organization/roles" : `v1/projects/${encodeURIComponent(project)}/roles`;
}

/** Roles of the organization, or of a project: built-in ones first. */
export function rolesQuery(project?: string) {
  return queryOptions({
    queryKey: [...ROLES, project ?? ""],
    queryFn: ({ signal }) => listAll<Answers["Role"]>(rolesPath(project), { order: "asc" }, signal),
  });
}
