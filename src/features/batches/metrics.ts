import { Counter, type Registry } from "prom-client";

/** Returns what counts the answered lines of batches. */
export function batchMetrics(registry: Registry): (isError: boolean) => void {
  const lines = new Counter({
    name: "parlance_batch_lines_total",
    help: "Lines of batches by result: output or error. Each attempt also counts as a request.",
    labelNames: ["result"],
    registers: [registry],
  });
  return (isError) => lines.inc({ result: isError ? "error" : "output" });
}
