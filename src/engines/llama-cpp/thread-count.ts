import { availableParallelism, cpus } from "node:os";

/** Milliseconds that all cores together were busy, and what this process took of them; since some time in the past. */
export interface CpuTimes {
  cores: number;
  busyMs: number;
  ownMs: number;
  atMs: number;
}

const SAMPLE_MS = 250;
/** Load that comes and goes in parts of a millisecond does no harm. */
const TOLERATED_CORES = 0.5;

/**
 * How many threads to evaluate with: as many as there are cores that nothing else uses. llama.cpp's threads wait for each
 * other hundreds of times a token without giving their core away, so one thread more than free cores is no small loss:
 * with two threads on two cores and one other busy process, 0.3 tokens a second were measured, and 116 with one thread.
 */
export class ThreadCount {
  readonly #most: number;
  readonly #read: () => CpuTimes;
  #last: CpuTimes;
  /** Undefined before the first sample, when one thread is the safe guess. */
  #othersCores: number | undefined;

  constructor(most: number, read: () => CpuTimes = readCpuTimes) {
    this.#most = most;
    this.#read = read;
    this.#last = read();
  }

  /** Goes on by itself from now; does not keep the process alive. */
  start(): this {
    if (this.#most > 1) setInterval(() => this.sample(), SAMPLE_MS).unref();
    return this;
  }

  sample(): void {
    const now = this.#read();
    const elapsedMs = now.atMs - this.#last.atMs;
    if (elapsedMs <= 0) return;
    const othersMs = now.busyMs - this.#last.busyMs - (now.ownMs - this.#last.ownMs);
    const measured = Math.max(0, othersMs / elapsedMs);
    // Up at once, down slowly: a wrong guess costs far more in one direction.
    this.#othersCores = Math.max(measured, 0.8 * (this.#othersCores ?? measured) + 0.2 * measured);
    this.#last = now;
  }

  get current(): number {
    if (this.#othersCores === undefined) return 1;
    const freeCores = this.#last.cores - this.#othersCores;
    return Math.max(1, Math.min(this.#most, Math.floor(freeCores + TOLERATED_CORES)));
  }
}

/** `mathCores` leaves out cores that only slow the others down; the rest is what this process may use at all. */
export function usefulThreads(mathCores: number): number {
  return Math.max(1, Math.min(mathCores, availableParallelism()));
}

function readCpuTimes(): CpuTimes {
  const cores = cpus();
  const { user, system } = process.cpuUsage();
  const busyMs = cores.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return { cores: cores.length, busyMs, ownMs: (user + system) / 1000, atMs: performance.now() };
}
