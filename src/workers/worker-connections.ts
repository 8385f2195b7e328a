/** Connections of one worker that the owner counts, which are closed when the worker ends. */

import type { AddressCounts, ConnectionCounter } from "../http/connections.ts";

export class WorkerConnections implements ConnectionCounter {
  readonly #counts: AddressCounts;
  readonly #open = new Map<string, number>();

  /** `counts`: those of all workers. */
  constructor(counts: AddressCounts) {
    this.#counts = counts;
  }

  /** Number of addresses with a connection. */
  get addresses(): number {
    return this.#open.size;
  }

  open(address: string): boolean {
    const isAdmitted = this.#counts.open(address);
    if (isAdmitted) this.#open.set(address, (this.#open.get(address) ?? 0) + 1);
    return isAdmitted;
  }

  close(address: string): void {
    this.#counts.close(address);
    const remaining = (this.#open.get(address) ?? 1) - 1;
    // An address that stayed would be kept for good, and a client of IPv6 has any number of them.
    if (remaining > 0) this.#open.set(address, remaining);
    else this.#open.delete(address);
  }

  /** Closes what the worker has not closed. */
  release(): void {
    for (const [address, count] of this.#open) {
      for (let each = 0; each < count; each += 1) this.#counts.close(address);
    }
    this.#open.clear();
  }
}
