import { FairQueue } from "../../kernel/async/fair-queue.ts";
import { unavailable } from "../../kernel/faults.ts";

/** Runs that wait for one of the Python processes: the next is of the project that has the fewest. */
export class ProcessQueue {
  readonly #maxSessions: number;
  readonly #waiting = new FairQueue<() => void>(Number.POSITIVE_INFINITY);

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  /** Records that a run of the project has a process. */
  take(projectId: string): void {
    this.#waiting.served(projectId);
  }

  /** Records that the run has ended, and wakes the next one. */
  release(projectId: string): void {
    this.#waiting.leave(projectId);
    this.wakeNext();
  }

  wakeNext(): void {
    this.#waiting.next()?.();
  }

  /**
   * Resolves once a process may be free. Throws a Fault at the deadline, in epoch milliseconds, and the signal's reason
   * when that aborts first.
   */
  async wait(projectId: string, deadline: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    let isWoken = false;
    const wake = () => {
      isWoken = true;
      resolve();
    };
    const timer = setTimeout(stop, Math.max(0, deadline - Date.now()));
    signal.addEventListener("abort", stop, { once: true });
    this.#waiting.add(projectId, wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    this.#waiting.remove(projectId, wake);
    // The process is for the next one.
    if (isWoken && signal.aborted) this.wakeNext();
    signal.throwIfAborted();
    if (isWoken) return;
    const message = `All ${this.#maxSessions} Python sessions are busy (code_interpreter.max_sessions). Try again in a moment.`;
    throw unavailable(message, "server_is_overloaded", 10);
  }
}
