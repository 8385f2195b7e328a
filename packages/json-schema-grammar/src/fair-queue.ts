/**
 * Runs a bounded number of tasks at a time and takes turns between tenants. One tenant never occupies all slots, unless there
 * is only one: a tenant with slow tasks then delays the others by one task at most.
 */
export class FairQueue {
  readonly #slots: number;
  readonly #slotsPerTenant: number;
  readonly #running = new Map<string, number>();
  /** In the order of the tenants' turns. */
  readonly #waiting = new Map<string, Array<() => void>>();
  #busy = 0;

  constructor(slots: number) {
    this.#slots = slots;
    this.#slotsPerTenant = Math.max(1, slots - 1);
  }

  /** Rejects with the signal's reason when it aborts before the task has started. */
  async run<T>(tenant: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#acquire(tenant, signal);
    try {
      return await task();
    } finally {
      this.#release(tenant);
    }
  }

  async #acquire(tenant: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(tenant) ?? [];
    this.#waiting.set(tenant, waiting);
    const leave = () => {
      waiting.splice(waiting.indexOf(resolve), 1);
      if (waiting.length === 0) this.#waiting.delete(tenant);
      reject(signal.reason);
    };
    waiting.push(resolve);
    signal.addEventListener("abort", leave, { once: true });
    this.#startNext();
    await promise.finally(() => signal.removeEventListener("abort", leave));
  }

  #release(tenant: string): void {
    const running = (this.#running.get(tenant) ?? 1) - 1;
    if (running === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, running);
    this.#busy -= 1;
    this.#startNext();
  }

  #startNext(): void {
    for (const [tenant, waiting] of this.#waiting) {
      if (this.#busy >= this.#slots) return;
      const running = this.#running.get(tenant) ?? 0;
      if (running >= this.#slotsPerTenant) continue;
      const start = waiting.shift();
      this.#waiting.delete(tenant);
      // To the end of the line.
      if (waiting.length > 0) this.#waiting.set(tenant, waiting);
      this.#running.set(tenant, running + 1);
      this.#busy += 1;
      start?.();
    }
  }
}
