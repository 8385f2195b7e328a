/** Runs jobs that are rows of a table, which replicas share: each job runs in one process at a time. */

import type { Logger } from "../logger.ts";
import { Poll } from "./poll.ts";

/** Where jobs are stored. Leases are measured by the store's clock, since those of replicas differ. */
export interface JobStore<Job> {
  /** Leases at most `limit` jobs that are due: no other process gets them until the lease ends or is released. */
  claim(claim: { limit: number; leaseMs: number; running: readonly Job[] }): Promise<readonly Job[]>;
  /** Extends the lease of a running job; left out: every run is shorter. Returns false when another process has the job. */
  renew?(job: Job, leaseMs: number): Promise<boolean>;
  /** Ends the lease. The job is due again after `delayMs`. */
  release(job: Job, delayMs: number): Promise<unknown>;
}

/**
 * How a run ends. `over`: it has stored its end, or another process has the job; `retry`: due again after the delay of
 * such jobs; `retryAfterMs`: after this time; `interrupted`: at once, for any process.
 */
export type JobEnd = "over" | "retry" | "interrupted" | { retryAfterMs: number };

export interface JobRunnerOptions<Job> {
  /** Plural, for the log: "batches". */
  subject: string;
  store: JobStore<Job>;
  logger: Logger;
  /** Jobs that run at the same time. */
  concurrency: number;
  /** A process that dies leaves its jobs to others after this time. */
  leaseMs: number;
  /** Pause between looks for jobs of other processes. */
  pollMs: number;
  /** `signal` aborts when the runner closes or another process has the job. */
  run(job: Job, signal: AbortSignal): Promise<JobEnd>;
  retryDelayMs(job: Job): number;
}

/** Renewals that may fail before the lease ends. */
const RENEWALS_PER_LEASE = 4;
const JITTER = 0.2;
const OUTAGE_RETRY_MS = 2_000;

export class JobRunner<Job> implements AsyncDisposable {
  readonly #options: JobRunnerOptions<Job>;
  readonly #running = new Map<Job, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #poll: Poll;
  #isDraining = false;
  #hasFailed = false;

  /** Begins to look for jobs. */
  constructor(options: JobRunnerOptions<Job>) {
    this.#options = options;
    this.#poll = new Poll(() => this.#claim(), {
      everyMs: options.pollMs,
      firstMs: 0,
      jitter: JITTER,
      onFailure: (error) => {
        this.#reportOutage(error);
        this.#poll.wake(OUTAGE_RETRY_MS);
      },
    });
  }

  /** Looks for jobs after `delayMs`: one was added, or will be due. */
  wake(delayMs = 0): void {
    this.#poll.wake(delayMs);
  }

  /** Runs the jobs that are due now, and resolves at their end. */
  async runDue(): Promise<void> {
    await this.#poll.run();
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Starts no further jobs. Running ones continue. */
  drain(): void {
    this.#isDraining = true;
    this.#poll.stop();
  }

  /** Aborts running jobs and waits for their end. */
  async close(): Promise<void> {
    this.drain();
    this.#closing.abort();
    await this.#poll.close();
    await Promise.all(this.#running.values());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #claim(): Promise<void> {
    const { store, concurrency, leaseMs } = this.#options;
    for (;;) {
      const limit = concurrency - this.#running.size;
      if (limit <= 0 || this.#isDraining) return;
      const jobs = await store.claim({ limit, leaseMs, running: [...this.#running.keys()] });
      this.#hasFailed = false;
      for (const job of jobs) {
        const ended = this.#runJob(job).finally(() => {
          this.#running.delete(job);
          // Others may wait for this place.
          this.#poll.wake();
        });
        this.#running.set(job, ended);
      }
      if (jobs.length < limit) return;
    }
  }

  async #runJob(job: Job): Promise<void> {
    const { store, logger, subject, retryDelayMs } = this.#options;
    let end: JobEnd = "interrupted";
    if (!this.#isDraining) {
      const lost = new AbortController();
      const signal = AbortSignal.any([this.#closing.signal, lost.signal]);
      await using _lease = this.#keepLease(job, lost);
      try {
        end = await this.#options.run(job, signal);
      } catch (error) {
        end = signal.aborted ? "interrupted" : "retry";
        if (!signal.aborted) logger.error({ err: error }, `one of the ${subject} failed; it runs again`);
      }
    }
    if (end === "over") return;
    const retryMs = end === "retry" ? retryDelayMs(job) : 0;
    const delayMs = typeof end === "object" ? end.retryAfterMs : retryMs;
    try {
      await store.release(job, delayMs);
    } catch (error) {
      // Its lease ends by itself.
      this.#reportOutage(error);
    }
    // Later, the poll finds it.
    if (delayMs < this.#options.pollMs) this.wake(delayMs);
  }

  #keepLease(job: Job, lost: AbortController): AsyncDisposable | undefined {
    const { store, leaseMs } = this.#options;
    if (store.renew === undefined) return undefined;
    const renew = async () => {
      if ((await store.renew?.(job, leaseMs)) === false) lost.abort();
    };
    const everyMs = leaseMs / RENEWALS_PER_LEASE;
    return new Poll(renew, { everyMs, onFailure: (error) => this.#reportOutage(error) });
  }

  #reportOutage(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.logger.warn({ err: error }, `${this.#options.subject} wait for the database`);
  }
}
