import { Counter, type Registry } from "prom-client";

/** Returns what counts the usage records that were lost. */
export function usageMetrics(registry: Registry): (records: number) => void {
  const lost = new Counter({
    name: "parlance_usage_records_lost_total",
    help: "Usage records lost because the disk failed or the database was unavailable for too long.",
    registers: [registry],
  });
  return (records) => lost.inc(records);
}
