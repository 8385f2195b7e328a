import type { Counter, Histogram } from "prom-client";

/** Removes the series with one of these values of the label `deployment`. */
export async function removeSeries(
  metric: Counter | Histogram,
  deployments: ReadonlySet<string | number>,
): Promise<void> {
  const { values } = await metric.get();
  for (const { labels } of values) {
    // A histogram's series have a bucket in addition to their labels.
    const { le: _bucket, ...own } = labels as Record<string, string | number>;
    if (deployments.has(own.deployment ?? "")) metric.remove(own as never);
  }
}
