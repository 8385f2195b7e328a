import { Gauge, type Registry } from "prom-client";

/** Calls `count` at each scrape. */
export function responseMetrics(registry: Registry, count: () => number): void {
  const connections: Gauge = new Gauge({
    name: "parlance_response_websockets",
    help: "Open WebSockets of the Responses API.",
    registers: [registry],
    collect: () => connections.set(count()),
  });
}
