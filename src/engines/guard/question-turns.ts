import { FairQueue } from "../../kernel/async/fair-queue.ts";

/** Shares the slots of a guard's chat model between projects, of which none takes all: others would wait in vain. */
export class QuestionTurns {
  readonly #slots: number;
  readonly #waiting: FairQueue<() => void>;
  #inUse = 0;

  constructor(slots: number) {
    this.#slots = slots;
    this.#waiting = new FairQueue(Math.max(1, slots - 1));
  }

  /** Runs the task in a slot. Resolves with undefined when `signal` aborts before there is one. */
  async run<Result>(project: string, signal: AbortSignal, task: () => Promise<Result>): Promise<Result | undefined> {
    if (!(await this.#enter(project, signal))) return undefined;
    try {
      return await task();
    } finally {
      this.#inUse -= 1;
      this.#waiting.leave(project);
      this.#grantNext();
    }
  }

  /** Resolves with whether the project holds a slot. */
  async #enter(project: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return new Promise((resolve) => {
      const grant = () => {
        signal.removeEventListener("abort", leave);
        this.#inUse += 1;
        this.#waiting.served(project);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.remove(project, grant);
        resolve(false);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(project, grant);
      this.#grantNext();
    });
  }

  #grantNext(): void {
    if (this.#inUse < this.#slots) this.#waiting.next()?.();
  }
}
