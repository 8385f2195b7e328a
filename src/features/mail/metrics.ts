import { Counter, type Registry } from "prom-client";

/** Returns what counts the attempts to deliver e-mails. */
export function mailMetrics(registry: Registry): (type: string, outcome: string) => void {
  const attempts = new Counter({
    name: "parlance_mail_attempts_total",
    help: "Attempts to send e-mails, by type and outcome: delivered, retried (later) or dropped (given up).",
    labelNames: ["type", "outcome"],
    registers: [registry],
  });
  return (type, outcome) => attempts.inc({ type, outcome });
}
