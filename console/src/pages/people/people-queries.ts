import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll } from "../../api/request.ts";

export const GROUPS = ["groups"];
export const ROLES = ["roles"];

export const groupsQuery = queryOptions({
  queryKey: GROUPS,
  queryFn: ({ signal }) => listAll<Answers["Group"]>("v1/organization/groups", {}, signal),
});

/** Roles of the organization, or of a project: built-in ones first. */
export function rolesQuery(project?: string) {
  const path = project === undefined ? "v1/organization/roles" : `v1/projects/${encodeURIComponent(project)}/roles`;
  return queryOptions({
    queryKey: [...ROLES, project ?? ""],
    queryFn: ({ signal }) => listAll<Answers["Role"]>(path, { order: "asc" }, signal),
  });
}
