import { availableParallelism, cpus } from "node:os";

/** Busy milliseconds of all cores together and of this process, since an arbitrary time. */
export interface CpuTimes {
  cores: number;
  busyMs: number;
  ownMs: number;
  atMs: number;
}

const SAMPLE_MS = 250;
/** Load that lasts fractions of a millisecond does no harm. */
const TOLERATED_CORES = 0.5;

/**
 * Number of threads to evaluate with: the cores that no other process uses. llama.cpp's threads spin at hundreds of
 * barriers for each token, which makes one thread more than free cores expensive: 0.3 tokens/s with two threads on two
 * cores beside one busy process, 116 tokens/s with one thread.
 */
export class ThreadCount {
  readonly #max: number;
  readonly #read: () => CpuTimes;
  #last: CpuTimes;
  /** Undefined before the first sample; one thread is the safe guess then. */
  #othersCores: number | undefined;

  constructor(max: number, read: () => CpuTimes = readCpuTimes) {
    this.#max = max;
    this.#read = read;
    this.#last = read();
  }

  /** Samples periodically. Does not keep the process alive. */
  start(): this {
    if (this.#max > 1) setInterval(() => this.sample(), SAMPLE_MS).unref();
    return this;
  }

  sample(): void {
    const now = this.#read();
    const elapsedMs = now.atMs - this.#last.atMs;
    if (elapsedMs <= 0) return;
    const othersMs = now.busyMs - this.#last.busyMs - (now.ownMs - this.#last.ownMs);
    const measured = Math.max(0, othersMs / elapsedMs);
    // Rises at once and falls slowly: too many threads cost far more than too few.
    this.#othersCores = Math.max(measured, 0.8 * (this.#othersCores ?? measured) + 0.2 * measured);
    this.#last = now;
  }

  get current(): number {
    if (this.#othersCores === undefined) return 1;
    const freeCores = this.#last.cores - this.#othersCores;
    return Math.max(1, Math.min(this.#max, Math.floor(freeCores + TOLERATED_CORES)));
  }
}

/** `mathCores` leaves out efficiency cores, which slow the others down. Bounded by the process's CPU affinity. */
export function usefulThreads(mathCores: number): number {
  return Math.max(1, Math.min(mathCores, availableParallelism()));
}

function readCpuTimes(): CpuTimes {
  const cores = cpus();
  const { user, system } = process.cpuUsage();
  const busyMs = cores.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return { cores: cores.length, busyMs, ownMs: (user + system) / 1000, atMs: performance.now() };
}
