import { Counter, type Registry } from "prom-client";

/** Returns what counts the requests whose content was lost. */
export function recordedContentMetrics(registry: Registry): (requests: number) => void {
  const lost = new Counter({
    name: "parlance_recorded_content_lost_total",
    help: "Requests whose content was to be recorded and was lost because the database was full, too slow or unavailable.",
    registers: [registry],
  });
  return (requests) => lost.inc(requests);
}
