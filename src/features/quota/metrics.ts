import { Gauge, type Registry } from "prom-client";

interface CountersMeasure {
  /** Undefined: no shared store is configured. */
  isShared: boolean | undefined;
  /** Undefined: another process reports it. */
  replicas: number | undefined;
}

/** Calls `counters` at each scrape. */
export function quotaMetrics(registry: Registry, counters: () => CountersMeasure): void {
  const measure = (name: string, help: string, read: () => number | undefined) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator: "first",
      registers: [registry],
      collect: () => {
        const value = read();
        if (value === undefined) gauge.remove();
        else gauge.set(value);
      },
    });
  };
  measure(
    "parlance_shared_counters_up",
    "1 while the counters shared by replicas are available, 0 while they are not.",
    () => {
      const { isShared } = counters();
      return isShared === undefined ? undefined : Number(isShared);
    },
  );
  measure("parlance_replicas", "Number of replicas that share the counters, as last known.", () => counters().replicas);
}
