import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Answers } from "../../api/answers.ts";
import { listAll } from "../../api/request.ts";

interface Named {
  id: string;
  name: string | null;
  email?: string;
}

/** Lists whose entries have names; the session may read some of them. */
const LISTS = ["users", "groups", "roles", "admin_api_keys"];

const namesQuery = queryOptions({
  queryKey: ["names"],
  queryFn: async ({ signal }) => {
    const read = (list: string) => listAll<Named>(`v1/organization/${list}`, {}, signal).catch(() => []);
    const projects = listAll<Answers["Project"]>("v1/organization/projects", { include_archived: true }, signal);
    const lists = await Promise.all([...LISTS.map(read), projects.catch(() => [])]);
    return lists
      .flat()
      .map(({ id, name, ...entry }) => [id, name ?? ("email" in entry ? entry.email : undefined) ?? id]);
  },
  staleTime: 60_000,
});

/** Names of users, groups, roles, admin keys and projects by their IDs, as far as the session may read them. */
export function useNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(namesQuery);
  return useMemo(() => new Map((data ?? []) as [string, string][]), [data]);
}
