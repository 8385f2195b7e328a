import { useQuery } from "@tanstack/react-query";
import { REPORTS, readBuckets } from "./usage-query.ts";

const DAY = 86_400;
const DAYS = 7;

/** Answered requests of the last seven days, by day, for each project, key or model. */
export function useWeekUsage(groupBy: "project_id" | "api_key_id" | "model", isEnabled = true) {
  return useQuery({
    queryKey: ["week-usage", groupBy],
    enabled: isEnabled,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const start = (Math.floor(Date.now() / 1000 / DAY) - DAYS + 1) * DAY;
      const query = { start_time: start, bucket_width: "1d", limit: DAYS, group_by: [groupBy] };
      const reports = await Promise.all(
        Object.values(REPORTS).map((report) => readBuckets(`v1/organization/usage/${report}`, query, signal)),
      );
      const days = new Map<string, number[]>();
      for (const { start_time, results } of reports.flat()) {
        const day = Math.round((start_time - start) / DAY);
        for (const result of results) {
          const id = result[groupBy] ?? "";
          const values = days.get(id) ?? Array.from({ length: DAYS }, () => 0);
          values[day] = (values[day] ?? 0) + (result.num_model_requests ?? 0);
          days.set(id, values);
        }
      }
      return days;
    },
  });
}
