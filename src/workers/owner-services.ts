/** What the owner does for its workers: it counts, finds keys and stores what requests used. */

import type { LiveCatalog } from "../catalog/live-catalog.ts";
import type { Counters } from "../counters/counters.ts";
import type { Accounts } from "../features/accounts/accounts.ts";
import type { SpendLimitsOptions } from "../features/quota/spend-limits.ts";
import type { RequestHistory } from "../features/usage/request-history.ts";
import type { UsageRecorder } from "../features/usage/usage-recorder.ts";
import type { OwnerMethods } from "./protocol.ts";

export interface OwnerParts extends Required<Pick<SpendLimitsOptions, "spentIn" | "onSpent">> {
  accounts: Accounts;
  counters: Counters;
  recorder: UsageRecorder;
  history: RequestHistory;
  live: LiveCatalog;
}

export class OwnerServices {
  readonly counters: Counters;
  readonly accounts: Accounts;
  readonly live: LiveCatalog;
  /** Methods that are the same for all workers. */
  readonly methods: Pick<
    OwnerMethods,
    "raise" | "spentIn" | "readKeysVersion" | "loadKeys" | "recordUsage" | "recordRequests" | "noteUses" | "noteSpent"
  >;

  constructor({ accounts, counters, recorder, history, live, spentIn, onSpent }: OwnerParts) {
    this.counters = counters;
    this.accounts = accounts;
    this.live = live;
    this.methods = {
      raise: (key, windowSeconds, amount) => counters.raise(key, windowSeconds, amount),
      spentIn,
      readKeysVersion: () => accounts.keySource.readVersion(),
      loadKeys: async (hashes) => [...(await accounts.keySource.load(hashes))],
      recordUsage: (rows) => recorder.recordRows(rows),
      recordRequests: (rows) => history.recordRows(rows),
      noteUses: (uses) => {
        for (const [keyId, use] of uses) accounts.lastUsed.note(keyId, use);
      },
      noteSpent: onSpent,
    };
  }
}
