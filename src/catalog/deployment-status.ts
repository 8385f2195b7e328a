/** State of the catalog's deployments for metrics, alerts and health reports. */

import type { Deployment } from "../deployments/deployment.ts";
import { formatSource } from "../kernel/discovery/endpoint.ts";
import type { PoolState } from "../kernel/discovery/endpoint-pool.ts";
import type { PoolMeasure } from "../observability/deployment-gauges.ts";
import type { DeploymentMeasure } from "../observability/deployment-measure.ts";
import type { Catalog } from "./catalog.ts";

type Models = Pick<Catalog, "models">;

export interface PoolStatus extends PoolState {
  model: string;
  /** Name of the entry that stands for the pool. */
  deployment: string;
  engine: string;
  source: string;
  /** Number of endpoints. */
  endpoints: number;
}

export function* measureDeployments(catalog: Models): Iterable<DeploymentMeasure> {
  for (const model of catalog.models) {
    for (const deployment of model.deployments) {
      const { name, state, slots, circuits, engineLoad, memoryBytes, loadSeconds } = deployment;
      const isUp = state.state === "up";
      const isCircuitOpen = circuits.state !== "closed";
      const { waiting, inUse: slotsInUse } = slots;
      const load = { waiting, slotsInUse, engineLoad };
      yield { model: model.id, deployment: name, isUp, isCircuitOpen, ...load, memoryBytes, loadSeconds };
    }
  }
}

export function* listPools(catalog: Models): Iterable<PoolStatus> {
  for (const model of catalog.models) {
    for (const { name, engine, endpoints: pool } of model.pools) {
      const source = formatSource(pool.source);
      yield { model: model.id, deployment: name, engine, source, endpoints: pool.endpoints.length, ...pool.state };
    }
  }
}

export function* measurePools(catalog: Models): Iterable<PoolMeasure> {
  for (const { model, deployment, endpoints, reason } of listPools(catalog)) {
    yield { model, deployment, endpoints, isUp: reason === undefined };
  }
}

export interface DeploymentHealth {
  deployment: string;
  model: string;
  /** Undefined while it serves, or is neither loaded nor failed. */
  downReason: string | undefined;
}

/**
 * A pool is down when none of its endpoints serves: that one of them leaves or fails is what it is for.
 * `openElsewhere`: deployments whose circuit is open in another process.
 */
export function* deploymentHealth(catalog: Models, openElsewhere: ReadonlySet<string>): Iterable<DeploymentHealth> {
  for (const model of catalog.models) {
    for (const deployment of model.deployments) {
      if (deployment.pool !== undefined) continue;
      yield { deployment: deployment.name, model: model.id, downReason: downReasonOf(deployment, openElsewhere) };
    }
    for (const { name, endpoints: pool } of model.pools) {
      const poolDeployments = model.deployments.filter(({ pool: entry }) => entry === name);
      const reasons = poolDeployments.map((deployment) => downReasonOf(deployment, openElsewhere));
      const isDown = reasons.every((reason) => reason !== undefined);
      const reason =
        poolDeployments.length === 0 ? (pool.state.reason ?? "no endpoints") : `all endpoints failed: ${reasons[0]}`;
      yield { deployment: name, model: model.id, downReason: isDown ? reason : undefined };
    }
  }
}

function downReasonOf({ name, state, circuits }: Deployment, openElsewhere: ReadonlySet<string>): string | undefined {
  if (state.state === "failed" || state.state === "restarting") return state.reason;
  return circuits.state !== "closed" || openElsewhere.has(name) ? "repeated failures" : undefined;
}
