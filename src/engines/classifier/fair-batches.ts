/** Runs windows of several requests through the network in turns: one batch of one project, then one of the next. */

import { type InferenceSession, Tensor } from "onnxruntime-node";

/** More tokens at once are no faster on a CPU, and other projects wait for one batch: some 40 ms. */
const BATCH_TOKENS = 512;
/** Tokens of one request that are sorted by length, which reduces padding in a batch. */
const SORTED_TOKENS = 8 * BATCH_TOKENS;

export interface Window {
  /** Index of the text that it belongs to. */
  text: number;
  /** Its place among the windows of the text. */
  index: number;
  ids: readonly number[];
}

export interface Scoring {
  /** Requests of one project take turns among themselves. */
  project: string;
  /** Read as they are needed, which bounds the work between two turns. */
  windows: Iterator<Window, void>;
  signal: AbortSignal;
  /** Takes each window's scores, in no particular order. */
  take: (window: Window, scores: Float32Array) => void;
}

export type RunBatch = (batch: readonly Window[]) => Promise<Float32Array>;

class Job {
  readonly scoring: Scoring;
  readonly done = Promise.withResolvers<void>();
  #sorted: Window[] = [];
  #isRead = false;

  constructor(scoring: Scoring) {
    this.scoring = scoring;
  }

  /** Empty at the end. */
  nextBatch(): readonly Window[] {
    this.#read();
    let count = 0;
    for (const { ids } of this.#sorted) {
      if (count > 0 && ids.length * (count + 1) > BATCH_TOKENS) break;
      count += 1;
    }
    return this.#sorted.splice(0, count);
  }

  #read(): void {
    let tokens = this.#sorted.reduce((sum, { ids }) => sum + ids.length, 0);
    if (this.#isRead || tokens >= BATCH_TOKENS) return;
    while (tokens < SORTED_TOKENS && !this.#isRead) {
      const { done, value } = this.scoring.windows.next();
      this.#isRead = done === true;
      if (value === undefined) continue;
      this.#sorted.push(value);
      tokens += value.ids.length;
    }
    this.#sorted.sort((a, b) => a.ids.length - b.ids.length);
  }
}

export class FairBatches {
  readonly #run: RunBatch;
  readonly #rest: () => Promise<void>;
  /** Jobs by project, in the order of their turns. */
  readonly #projects = new Map<string, Job[]>();
  #isRunning = false;

  /** `rest`: runs between two batches, which block the event loop. */
  constructor(run: RunBatch, rest: () => Promise<void>) {
    this.#run = run;
    this.#rest = rest;
  }

  /** Resolves once all windows are scored, or early once `signal` aborts. */
  score(scoring: Scoring): Promise<void> {
    const job = new Job(scoring);
    const waiting = this.#projects.get(scoring.project);
    if (waiting === undefined) this.#projects.set(scoring.project, [job]);
    else waiting.push(job);
    if (!this.#isRunning) void this.#work();
    return job.done.promise;
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      try {
        await this.#turn(job);
      } catch (failure) {
        job.done.reject(failure);
      }
      if (this.#projects.size > 0) await this.#rest();
    }
    this.#isRunning = false;
  }

  /** Takes the next job out of the queue. */
  #next(): Job | undefined {
    const [entry] = this.#projects;
    if (entry === undefined) return undefined;
    const [project, jobs] = entry;
    const job = jobs.shift();
    this.#projects.delete(project);
    if (jobs.length > 0) this.#projects.set(project, jobs);
    return job;
  }

  async #turn(job: Job): Promise<void> {
    const { project, signal, take } = job.scoring;
    const batch = signal.aborted ? [] : job.nextBatch();
    if (batch.length === 0) return job.done.resolve();
    const scores = await this.#run(batch);
    const width = scores.length / batch.length;
    for (const [row, window] of batch.entries()) take(window, scores.subarray(row * width, (row + 1) * width));
    const waiting = this.#projects.get(project);
    if (waiting === undefined) this.#projects.set(project, [job]);
    else waiting.push(job);
  }
}

/** Scores windows, padded to the longest. Returns [windows, categories] scores in row order. */
export async function runBatch(session: InferenceSession, batch: readonly Window[]): Promise<Float32Array> {
  const length = Math.max(...batch.map(({ ids }) => ids.length));
  const shape = [batch.length, length];
  const ids = new BigInt64Array(batch.length * length);
  const mask = new BigInt64Array(batch.length * length);
  for (const [row, window] of batch.entries()) {
    for (const [column, id] of window.ids.entries()) {
      ids[row * length + column] = BigInt(id);
      mask[row * length + column] = 1n;
    }
  }
  const { scores } = await session.run({
    ids: new Tensor("int64", ids, shape),
    mask: new Tensor("int64", mask, shape),
  });
  if (!(scores?.data instanceof Float32Array)) throw new Error("The network gave no scores");
  return scores.data;
}
