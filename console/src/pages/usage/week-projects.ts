import { useQuery } from "@tanstack/react-query";
import { readBuckets } from "./usage-query.ts";

const WEEK = 7 * 86_400;

/** Projects that used each model in the last seven days. */
export function useWeekProjects() {
  return useQuery({
    queryKey: ["week-projects"],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const start = Math.floor(Date.now() / 1000) - WEEK;
      const query = { start_time: start, limit: 8, group_by: ["line_item", "project_id"] };
      const projects = new Map<string, Set<string>>();
      for (const { results } of await readBuckets("v1/organization/costs", query, signal)) {
        for (const { line_item: model, project_id: project } of results) {
          if (model == null || project === null) continue;
          projects.set(model, (projects.get(model) ?? new Set()).add(project));
        }
      }
      return projects;
    },
  });
}
