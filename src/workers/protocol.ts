/** What the owner and its workers ask of each other. */

import type { ModelSpec } from "../catalog/build-catalog.ts";
import type { Config } from "../config/config.ts";
import type { Correction, CounterClaim, Counters, Taken } from "../counters/counters.ts";
import type { KeyUse } from "../features/accounts/keys/api-key-queries.ts";
import type { KeyRecord } from "../features/accounts/keys/cached-key.ts";
import type { SpendScope, SpentAmount } from "../features/quota/spend-bound.ts";
import type { SpendWindow } from "../features/quota/spend-window.ts";
import type { RequestRows } from "../features/usage/request-rows.ts";
import type { UsageRows } from "../features/usage/usage-batch.ts";
import type { MetricsSnapshot } from "../observability/metrics-snapshot.ts";

/** Settings of a worker, as JSON with secrets. */
export interface WorkerSettings {
  /** Number of the worker, from 1. */
  id: number;
  /** Number of workers. */
  workers: number;
  config: Pick<Config, "server" | "limits" | "usage" | "guardrails" | "prices" | "logLevel" | "openTelemetry">;
  keyKind: "sqlite" | "postgresql";
  /** Unix domain socket on which the owner serves what the workers do not. */
  socketPath: string;
  /** Proves to the owner that a request comes from a worker. */
  forwardSecret: string;
  models: readonly ModelSpec[];
}

/** What changes while a worker runs. */
export interface WorkerUpdate extends Pick<Config, "limits" | "guardrails" | "prices" | "logLevel"> {
  models: readonly ModelSpec[];
}

/** Result of `take`, with the generation of the owner's counters. */
export type OwnerTaken = Taken & Pick<Counters, "generation">;

/** Methods of the owner. */
export type OwnerMethods = {
  take(id: string, claims: readonly CounterClaim[]): Promise<OwnerTaken>;
  settle(id: string, corrections: readonly Correction[]): Promise<void>;
  raise(key: string, windowSeconds: number, amount: number): Promise<void>;
  spentIn(scope: SpendScope, window: SpendWindow, isExact?: boolean): Promise<number>;
  readKeysVersion(): Promise<number>;
  loadKeys(hashes: readonly string[]): Promise<[hash: string, record: KeyRecord][]>;
  recordUsage(rows: UsageRows["content"]): void;
  recordRequests(rows: Pick<RequestRows, "dimensions" | "values">): void;
  noteUses(uses: readonly (readonly [keyId: string, use: KeyUse])[]): void;
  noteSpent(spent: SpentAmount): void;
  /** Names of the deployments whose circuit is open in this worker. */
  noteOpenCircuits(deployments: readonly string[]): void;
  /** Counts a connection of an address; false when it has too many. */
  openConnection(address: string): boolean;
  closeConnection(address: string): void;
};

/** Methods of a worker. */
export type WorkerMethods = {
  /** Resolves with the origin, such as `http://127.0.0.1:8080`, once the worker listens. */
  start(settings: string): Promise<string>;
  /** Applies models and settings, as JSON with secrets. */
  apply(update: string): Promise<void>;
  /** Resolves once cached keys are up to date. */
  reloadKeys(): Promise<void>;
  measure(): Promise<MetricsSnapshot>;
  /** Answers while its event loop turns. */
  ping(): void;
  /** Resolves once all requests have ended, or the time for it is over. */
  drain(): Promise<void>;
};
