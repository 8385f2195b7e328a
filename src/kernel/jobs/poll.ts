export interface PollOptions {
  /** Pause after each run; a function is called after each one. */
  everyMs: number | (() => number);
  /** Time until the first run. Default: `everyMs`. */
  firstMs?: number;
  /** Fraction of each pause that is random, which keeps replicas from polling at the same time. Default 0. */
  jitter?: number;
  /** Receives what the task throws; left out: the task does not throw. */
  onFailure?: (error: unknown) => void;
}

/** Wakes within this time share a run. */
const WAKE_GRID_MS = 20;

/** Runs a task again and again, one run at a time: the loop of everything that polls, checks, writes or cleans up. */
export class Poll implements AsyncDisposable {
  readonly #task: () => unknown;
  readonly #options: PollOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next run by the pause, of `performance.now()` as the next ones. */
  #dueAt: number;
  /** Times of earlier runs. */
  #wakes: Set<number> = new Set();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(task: () => unknown, options: PollOptions) {
    this.#task = task;
    this.#options = options;
    this.#dueAt = performance.now() + (options.firstMs ?? this.#pauseMs());
    this.#schedule();
  }

  /** Runs the task now, or joins the run in progress. Resolves at its end; does nothing after `stop`. */
  run(): Promise<void> {
    if (this.#running !== undefined || this.#isStopped) return this.#running ?? Promise.resolve();
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#wakes = new Set([...this.#wakes].filter((time) => time > now));
    const running = this.#runTask();
    if (running === undefined) {
      this.#scheduleNext();
      return Promise.resolve();
    }
    this.#running = running.finally(() => {
      this.#running = undefined;
      this.#scheduleNext();
    });
    return this.#running;
  }

  /** Adds a run after `delayMs`. A run in progress is followed by another one. */
  wake(delayMs = 0): void {
    const time = performance.now() + delayMs;
    this.#wakes.add(delayMs === 0 ? time : Math.ceil(time / WAKE_GRID_MS) * WAKE_GRID_MS);
    if (this.#running === undefined) this.#schedule();
  }

  /** Ends the loop. A run in progress continues. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Ends the loop and waits for the run in progress. */
  async close(): Promise<void> {
    this.stop();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns undefined for a task that is not asynchronous. */
  #runTask(): Promise<void> | undefined {
    const onFailure = (error: unknown) => {
      if (this.#options.onFailure === undefined) throw error;
      this.#options.onFailure(error);
    };
    try {
      const result = this.#task();
      return result instanceof Promise ? result.then(() => {}, onFailure) : undefined;
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  }

  #scheduleNext(): void {
    this.#dueAt = performance.now() + this.#pauseMs();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    const next = Math.min(this.#dueAt, ...this.#wakes);
    this.#timer = setTimeout(() => void this.run(), Math.max(0, next - performance.now())).unref();
  }

  #pauseMs(): number {
    const { everyMs, jitter = 0 } = this.#options;
    return (typeof everyMs === "number" ? everyMs : everyMs()) * (1 - jitter * Math.random());
  }
}
