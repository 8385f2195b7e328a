import { Counter, Gauge, type Registry } from "prom-client";

/** Returns what counts requests for models with a cache. Calls `size` at each scrape. */
export function cacheMetrics(
  registry: Registry,
  size: () => Promise<{ answers: number; bytes: number }>,
): (model: string, result: string) => void {
  const measure = (name: string, help: string, value: "answers" | "bytes") => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator: "first",
      registers: [registry],
      collect: async () => {
        // A store that is away keeps its last value.
        const measured = await size().catch(() => undefined);
        if (measured !== undefined) gauge.set(measured[value]);
      },
    });
  };
  measure("parlance_cache_answers", "Cached answers.", "answers");
  measure("parlance_cache_bytes", "Size of the cached answers.", "bytes");
  const requests = new Counter({
    name: "parlance_cache_requests_total",
    help: "Requests for models with a cache: hit, answered from it; miss, run; bypass, run without it.",
    labelNames: ["model", "result"],
    registers: [registry],
  });
  return (model, result) => requests.inc({ model, result });
}
