/** Deletes what has expired, in small steps between which others use the database. */

import { setTimeout as pause } from "node:timers/promises";
import { HOUR_MS, MINUTE_MS } from "../durations.ts";
import type { Logger } from "../logger.ts";
import { Poll } from "./poll.ts";

export interface RetentionOptions {
  /** What expires, for the log: "request history". */
  subject: string;
  logger: Logger;
  intervalMs?: number;
  /** Each deletes some at a time and resolves with their number. It runs again until that is 0, then the next one. */
  steps: readonly ((now: number) => Promise<number>)[];
}

const INTERVAL_MS = HOUR_MS;
const FIRST_RUN_MS = MINUTE_MS;
/** Replicas that started together do not delete the same rows. */
const JITTER = 0.1;
const PAUSE_MS = 50;

export class Retention {
  readonly #options: RetentionOptions;
  readonly #poll: Poll;
  #isClosed = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    const everyMs = options.intervalMs ?? INTERVAL_MS;
    this.#poll = new Poll(() => this.removeExpired(), { everyMs, firstMs: FIRST_RUN_MS, jitter: JITTER });
  }

  /** Never throws: what the database refuses is deleted next time. */
  async removeExpired(now = Date.now()): Promise<void> {
    const { steps, subject, logger } = this.#options;
    try {
      for (const step of steps) {
        while (!this.#isClosed && (await step(now)) > 0) await pause(PAUSE_MS);
      }
    } catch (error) {
      logger.warn({ err: error }, `expired ${subject} not removed yet`);
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#poll.stop();
  }
}
