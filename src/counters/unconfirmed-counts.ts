/** What a replica has counted and its store may not have, until it is restored there. */

import { withTimeout } from "../kernel/async/timeout.ts";
import { type CounterStore, LEASE_MS, type OpenReservation, type WindowSnapshot } from "./counter-store.ts";

type Window = Pick<WindowSnapshot, "key" | "windowSeconds">;
type Beginning = Parameters<CounterStore["begin"]>;

/** Leaves room for a busy event loop. */
const ANSWER_TIMEOUT_MS = 2_000;
const WINDOWS_PER_STATEMENT = 100;

export class UnconfirmedCounts {
  readonly #store: CounterStore;
  readonly #replica: string;
  /** Initial amounts that the store has not confirmed. */
  readonly #beginnings: Set<Beginning> = new Set();
  /** Empty snapshots of windows in which the store may count more than this replica has used. */
  readonly #windows: Map<string, WindowSnapshot> = new Map();

  constructor(store: CounterStore, replica: string) {
    this.#store = store;
    this.#replica = replica;
  }

  addWindows(windows: readonly Window[]): void {
    for (const { key, windowSeconds } of windows) {
      this.#windows.set(idOf({ key, windowSeconds }), { key, windowSeconds, slices: [] });
    }
  }

  /** Returns a function that sends the initial amount. */
  addBeginning(...beginning: Beginning): () => Promise<void> {
    this.#beginnings.add(beginning);
    return () => this.#send(beginning);
  }

  async sendBeginnings(): Promise<void> {
    await Promise.all([...this.#beginnings].map((beginning) => this.#send(beginning)));
  }

  /** Replaces in the store what it counts for this replica by `used` and `reserved`, and the other windows by nothing. */
  async restore(used: readonly WindowSnapshot[], reserved: readonly OpenReservation[]): Promise<void> {
    const before = [...this.#windows];
    const windows = [...new Map([...before, ...used.map((window) => [idOf(window), window] as const)]).values()];
    await this.send(windows, reserved);
    // Keep those that became unconfirmed meanwhile.
    for (const [id, each] of before) if (this.#windows.get(id) === each) this.#windows.delete(id);
  }

  /** Sends windows without confirming any. */
  async send(windows: readonly WindowSnapshot[], reserved: readonly OpenReservation[]): Promise<void> {
    const sent = [];
    for (let start = 0; start < windows.length; start += WINDOWS_PER_STATEMENT) {
      sent.push(this.#store.restore(this.#replica, windows.slice(start, start + WINDOWS_PER_STATEMENT)));
    }
    sent.push(this.#store.join(this.#replica, reserved));
    await withTimeout(Promise.all(sent), LEASE_MS);
  }

  async #send(beginning: Beginning): Promise<void> {
    await storeAnswer(this.#store.begin(...beginning));
    this.#beginnings.delete(beginning);
  }
}

export function storeAnswer<Answer>(work: Promise<Answer>, timeoutMs = ANSWER_TIMEOUT_MS): Promise<Answer> {
  return withTimeout(work, timeoutMs);
}

function idOf({ key, windowSeconds }: Window): string {
  return `${windowSeconds} ${key}`;
}
