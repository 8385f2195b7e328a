import { Counter, type Registry } from "prom-client";

/** Returns what counts the attempts to deliver webhooks. */
export function webhookMetrics(registry: Registry): (event: string, outcome: string) => void {
  const attempts = new Counter({
    name: "parlance_webhook_attempts_total",
    help: "Attempts to deliver webhooks, by event and outcome: delivered, retried (later) or dropped (given up).",
    labelNames: ["event", "outcome"],
    registers: [registry],
  });
  return (event, outcome) => attempts.inc({ event, outcome });
}
