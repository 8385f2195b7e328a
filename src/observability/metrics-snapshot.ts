import { AggregatorRegistry, type Registry } from "prom-client";

/** Values of one process at one time, as plain data. */
export type MetricsSnapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** Adds up the values of processes. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON();
}
