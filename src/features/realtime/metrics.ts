import { Gauge, type Registry } from "prom-client";

/** Calls `count` at each scrape. */
export function realtimeMetrics(registry: Registry, count: () => number): void {
  const sessions: Gauge = new Gauge({
    name: "parlance_realtime_sessions",
    help: "Open sessions of the Realtime API.",
    registers: [registry],
    collect: () => sessions.set(count()),
  });
}
