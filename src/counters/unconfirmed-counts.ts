/** What a replica has counted and its store may not have, until it is restored there. */

import { withTimeout } from "../kernel/async/timeout.ts";
import { type CounterStore, LEASE_MS, type WindowSnapshot } from "./counter-store.ts";
import { sliceNumber } from "./moving-window.ts";

type Window = Pick<WindowSnapshot, "key" | "windowSeconds">;
type UsageIn = (window: Window) => Pick<WindowSnapshot, "slices" | "reserved">;

/** Leaves room for a busy event loop. */
const ANSWER_TIMEOUT_MS = 2_000;
/** Takes PostgreSQL some tenths of a second. */
const SLICES_PER_STATEMENT = 5_000;

export class UnconfirmedCounts {
  readonly #store: CounterStore;
  readonly #replica: string;
  /** The parts of windows in which the store may count something else than what this replica has used. */
  readonly #windows: Map<string, Window & { from: number }> = new Map();

  constructor(store: CounterStore, replica: string) {
    this.#store = store;
    this.#replica = replica;
  }

  /** Everything in these windows, or what was used at a time or later. */
  addWindows(windows: readonly Window[], at = 0): void {
    for (const window of windows) this.#add(window, sliceNumber(at, window.windowSeconds));
  }

  /** Replaces in the store what it counts for this replica, statement by statement, until one is enough for the rest. */
  async restoreMost(usageIn: UsageIn): Promise<void> {
    for (;;) {
      const statement = this.#nextStatement(usageIn, SLICES_PER_STATEMENT);
      if (statement.length === this.#windows.size) return;
      await this.#restore(statement);
    }
  }

  /** Replaces the rest in one statement, which is sent before this returns. */
  async restoreRest(usageIn: UsageIn): Promise<void> {
    await this.#restore(this.#nextStatement(usageIn, Number.POSITIVE_INFINITY));
  }

  #nextStatement(usageIn: UsageIn, maxSlices: number): WindowSnapshot[] {
    const snapshots = [];
    let slices = 0;
    for (const { key, windowSeconds, from } of this.#windows.values()) {
      if (slices >= maxSlices) break;
      const usage = usageIn({ key, windowSeconds });
      const used = usage.slices.filter(({ number }) => number >= from);
      snapshots.push({ key, windowSeconds, from, slices: used, reserved: usage.reserved });
      // An empty one is deleted, which is work too.
      slices += 1 + used.length;
    }
    return snapshots;
  }

  async #restore(windows: readonly WindowSnapshot[]): Promise<void> {
    // Before it is sent: what is used from here on is not in it.
    for (const window of windows) this.#windows.delete(idOf(window));
    try {
      await withTimeout(this.#store.restore(this.#replica, windows), LEASE_MS);
    } catch (error) {
      for (const window of windows) this.#add(window, window.from);
      throw error;
    }
  }

  #add({ key, windowSeconds }: Window, from: number): void {
    const id = idOf({ key, windowSeconds });
    const before = this.#windows.get(id)?.from ?? Number.POSITIVE_INFINITY;
    this.#windows.set(id, { key, windowSeconds, from: Math.min(from, before) });
  }
}

export function storeAnswer<Answer>(work: Promise<Answer>, timeoutMs = ANSWER_TIMEOUT_MS): Promise<Answer> {
  return withTimeout(work, timeoutMs);
}

function idOf({ key, windowSeconds }: Window): string {
  return `${windowSeconds} ${key}`;
}
