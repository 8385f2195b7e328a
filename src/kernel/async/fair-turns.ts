import { FairQueue } from "./fair-queue.ts";

export interface FairTurnsOptions {
  /** Works that run at the same time. */
  slots: number;
  /** Of these, the most that one project has; default: all. */
  maxHeld?: number;
}

/** Runs works in slots, whose next one is for the project that holds the fewest. */
export class FairTurns {
  readonly #slots: number;
  readonly #waiting: FairQueue<() => void>;
  #inUse = 0;

  constructor({ slots, maxHeld = slots }: FairTurnsOptions) {
    this.#slots = slots;
    this.#waiting = new FairQueue(maxHeld);
  }

  /** Runs the work in a slot. Resolves with undefined when `signal` aborts before there is one. */
  async run<Result>(
    project: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    if (!(await this.#enter(project, signal))) return undefined;
    try {
      return await work();
    } finally {
      this.#inUse -= 1;
      this.#waiting.leave(project);
      this.#grantNext();
    }
  }

  /** Resolves with whether the project holds a slot. */
  async #enter(project: string, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return false;
    return new Promise((resolve) => {
      const grant = () => {
        signal?.removeEventListener("abort", leave);
        this.#inUse += 1;
        this.#waiting.served(project);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.remove(project, grant);
        resolve(false);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(project, grant);
      this.#grantNext();
    });
  }

  #grantNext(): void {
    if (this.#inUse < this.#slots) this.#waiting.next()?.();
  }
}
