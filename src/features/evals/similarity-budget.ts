/** Similarities of the texts of one row, computed in threads within a budget of CPU time. */

import { extname } from "node:path";
import { ThreadPool } from "../../kernel/process/thread-pool.ts";
import type { SimilarityResult, SimilarityTask } from "./similarity-worker.ts";

/** CPU time of the graders of one row: a hundred of the slowest metric with the longest texts. */
const MAX_CPU_MS = 10_000;

const entry = new URL(`./similarity-worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
const pool = new ThreadPool<SimilarityTask, SimilarityResult>(entry);

export class SimilarityBudget {
  readonly #project: string;
  readonly #maxMs: number;
  #spentMs = 0;

  constructor(project: string, maxMs: number = MAX_CPU_MS) {
    this.#project = project;
    this.#maxMs = maxMs;
  }

  /** Throws an Error when the budget is spent, and the signal's reason, whose abort ends the thread. */
  async similarity(task: SimilarityTask, signal: AbortSignal): Promise<number> {
    if (this.#spentMs >= this.#maxMs) {
      throw new Error(`The graders of this row took more than ${this.#maxMs / 1000} s of CPU time. Shorten its texts.`);
    }
    const { score, cpuMs } = await pool.run(task, { project: this.#project, signal });
    this.#spentMs += cpuMs;
    return score;
  }
}
