/** What the owner does for its workers: it counts, finds keys and stores what requests used. */

import type { LiveCatalog } from "../catalog/live-catalog.ts";
import type { Counters } from "../counters/counters.ts";
import type { Accounts } from "../features/accounts/accounts.ts";
import type { SpendLimitsOptions } from "../features/quota/spend-limits.ts";
import type { RequestHistory } from "../features/usage/request-history.ts";
import type { UsageRecorder } from "../features/usage/usage-recorder.ts";
import type { MetricsSnapshot } from "../observability/metrics-snapshot.ts";
import type { OwnerMethods } from "./protocol.ts";

export interface OwnerParts extends Required<Pick<SpendLimitsOptions, "spentIn" | "onSpent">> {
  accounts: Accounts;
  counters: Counters;
  usageRecorder: UsageRecorder;
  history: RequestHistory;
  live: LiveCatalog;
}

/** What the owner reports of its workers; nothing without workers. */
export interface WorkerReports {
  measure(): Promise<readonly MetricsSnapshot[]>;
  /** Names of the deployments whose circuit is open in a worker. */
  openCircuits(): ReadonlySet<string>;
}

export class OwnerServices {
  readonly counters: Counters;
  readonly accounts: Accounts;
  readonly live: LiveCatalog;
  /** Methods that are the same for all workers. */
  readonly methods: Pick<
    OwnerMethods,
    "begin" | "spentIn" | "readKeysVersion" | "loadKeys" | "recordUsage" | "recordRequests" | "noteUses" | "noteSpent"
  >;
  /** Set by the pool of workers. */
  reports: WorkerReports = { measure: async () => [], openCircuits: () => new Set() };

  constructor({ accounts, counters, usageRecorder, history, live, spentIn, onSpent }: OwnerParts) {
    this.counters = counters;
    this.accounts = accounts;
    this.live = live;
    this.methods = {
      begin: (key, windowSeconds, amount) => counters.begin(key, windowSeconds, amount),
      spentIn,
      readKeysVersion: () => accounts.keySource.readVersion(),
      loadKeys: async (hashes) => [...(await accounts.keySource.load(hashes))],
      recordUsage: (rows) => usageRecorder.recordRows(rows),
      recordRequests: (rows) => history.recordRows(rows),
      noteUses: (times) => {
        for (const [keyId, time] of times) accounts.lastUsed.note(keyId, time);
      },
      noteSpent: onSpent,
    };
  }
}
