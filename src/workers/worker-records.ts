/** What a worker's requests used, on its way to the owner, which journals and stores it. */

import type { KeyUse } from "../features/accounts/keys/api-key-queries.ts";
import { RequestRows } from "../features/usage/request-rows.ts";
import { type UsageRecord, UsageRows } from "../features/usage/usage-batch.ts";
import type { RequestEntry } from "../http/request-entry.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Channel } from "./channel.ts";
import type { OwnerMethods } from "./protocol.ts";

/** A killed worker loses what it has not sent, as a killed service loses what it has not journaled. */
const SEND_MS = 50;
const ROWS_AT_ONCE = 500;

export class WorkerRecords {
  readonly #owner: Pick<Channel<OwnerMethods>, "notify" | "flush">;
  readonly #poll: Poll;
  #usage = new UsageRows();
  #requests = new RequestRows();
  /** Last use of each key. */
  readonly #uses = new Map<string, KeyUse>();

  constructor(owner: Pick<Channel<OwnerMethods>, "notify" | "flush">) {
    this.#owner = owner;
    this.#poll = new Poll(() => this.send(), { everyMs: SEND_MS });
  }

  recordUsage(record: UsageRecord): void {
    this.#usage.add(record);
    if (this.#usage.count >= ROWS_AT_ONCE) this.send();
  }

  recordRequest(entry: RequestEntry): void {
    this.#requests.add(entry);
    if (this.#requests.count >= ROWS_AT_ONCE) this.send();
  }

  noteUse(keyId: string, use: KeyUse): void {
    const earlier = use.address === undefined ? this.#uses.get(keyId) : undefined;
    this.#uses.set(keyId, earlier === undefined ? use : { ...earlier, time: use.time });
  }

  send(): void {
    if (this.#usage.count > 0) {
      const { content } = this.#usage;
      this.#usage = new UsageRows();
      this.#owner.notify("recordUsage", content);
    }
    if (this.#requests.count > 0) {
      const { dimensions, values } = this.#requests;
      this.#requests = new RequestRows();
      this.#owner.notify("recordRequests", { dimensions, values });
    }
    if (this.#uses.size > 0) {
      this.#owner.notify("noteUses", [...this.#uses]);
      this.#uses.clear();
    }
  }

  close(): void {
    this.#poll.stop();
    this.send();
    this.#owner.flush();
  }
}
