/** Gauges of deployments and pools, measured at each scrape. */

import { type Aggregator, Gauge, type Registry } from "prom-client";
import type { DeploymentMeasure } from "./deployment-measure.ts";

export interface PoolMeasure {
  model: string;
  /** Name of the entry that stands for the pool. */
  deployment: string;
  endpoints: number;
  /** Whether the last lookup succeeded and found endpoints. */
  isUp: boolean;
}

export function registerDeploymentGauges(
  registry: Registry,
  deployments: () => Iterable<DeploymentMeasure>,
  pools: () => Iterable<PoolMeasure>,
): void {
  gauge(registry, "parlance_deployment_up", "1 while a deployment is available.", deployments, (each) =>
    Number(each.isUp),
  );
  gauge(
    registry,
    "parlance_endpoints",
    "Endpoints of a deployment that stands for a pool.",
    pools,
    (each) => each.endpoints,
  );
  gauge(
    registry,
    "parlance_endpoint_discovery_up",
    "1 while the endpoints of a pool can be looked up, 0 after a lookup that failed or found none.",
    pools,
    (each) => Number(each.isUp),
  );
  const isCircuitOpen = (each: DeploymentMeasure) => Number(each.isCircuitOpen);
  gauge(
    registry,
    "parlance_circuit_open",
    "1 while a deployment's circuit breaker is open.",
    deployments,
    isCircuitOpen,
  );
  gauge(registry, "parlance_queue_length", "Requests waiting for a slot.", deployments, (each) => each.waiting, "sum");
  gauge(
    registry,
    "parlance_slots_in_use",
    "Slots in use by active requests.",
    deployments,
    (each) => each.slotsInUse,
    "sum",
  );
  gauge(
    registry,
    "parlance_engine_requests_running",
    "Running requests of all clients, as the engine reports them (`metrics_path`).",
    deployments,
    (each) => each.engineLoad?.running,
  );
  gauge(
    registry,
    "parlance_engine_requests_waiting",
    "Waiting requests of all clients, as the engine reports them (`metrics_path`).",
    deployments,
    (each) => each.engineLoad?.waiting,
  );
  gauge(
    registry,
    "parlance_engine_cache_usage_ratio",
    "Fraction of the KV cache in use, 0 to 1, as the engine reports it (`metrics_path`).",
    deployments,
    (each) => each.engineLoad?.cacheUsage,
  );
  gauge(
    registry,
    "parlance_model_memory_bytes",
    "Resident memory of a loaded local model.",
    deployments,
    (each) => each.memoryBytes,
  );
  gauge(
    registry,
    "parlance_model_load_seconds",
    "Duration of a deployment's last load.",
    deployments,
    (each) => each.loadSeconds,
  );
}

function gauge<Measure extends { model: string; deployment: string }>(
  registry: Registry,
  name: string,
  help: string,
  deployments: () => Iterable<Measure>,
  measure: (each: Measure) => number | undefined,
  aggregator: Aggregator = "max",
): void {
  const registered = new Gauge({
    name,
    help,
    aggregator,
    labelNames: ["model", "deployment"],
    registers: [registry],
    collect: () => {
      // Removes deployments that are no longer configured.
      registered.reset();
      for (const each of deployments()) {
        const value = measure(each);
        if (value !== undefined) registered.set({ model: each.model, deployment: each.deployment }, value);
      }
    },
  });
}
