import type { PullProgress } from "../model-store/pull-progress.ts";
import { formatBytes } from "./format-bytes.ts";

const WINDOW_MS = 5_000;

/** Progress, speed and remaining time of one model's download, all its files together. */
export class Transfer {
  #progress: PullProgress;
  #seen: { atMs: number; bytes: number }[] = [];

  constructor(progress: PullProgress, nowMs: number) {
    this.#progress = progress;
    this.see(progress, nowMs);
  }

  get progress(): PullProgress {
    return this.#progress;
  }

  see(progress: PullProgress, nowMs: number): void {
    const { file, source } = this.#progress;
    const isNewDownload = file !== progress.file || source !== progress.source;
    this.#progress = progress;
    const bytes = this.receivedBytes;
    if (isNewDownload || bytes < (this.#seen.at(-1)?.bytes ?? 0)) this.#seen = [];
    this.#seen.push({ atMs: nowMs, bytes });
    while ((this.#seen[1]?.atMs ?? nowMs) < nowMs - WINDOW_MS) this.#seen.shift();
  }

  get receivedBytes(): number {
    return this.#progress.completedBytes + this.#progress.receivedBytes;
  }

  /** Size of the model; undefined while unknown. */
  get totalBytes(): number | undefined {
    const { modelBytes } = this.#progress;
    // pip rounds the size that it announces.
    return modelBytes === undefined ? undefined : Math.max(modelBytes, this.receivedBytes);
  }

  /** Formats the known parts of `45.1 of 92.9 MB, 10.2 MB/s, 5 s left`. */
  describe(): string {
    const { receivedBytes, totalBytes } = this;
    const parts = [amount(receivedBytes, totalBytes)];
    const speed = this.#bytesPerSecond();
    if (speed > 0) parts.push(`${formatBytes(Math.round(speed))}/s`);
    if (speed > 0 && totalBytes !== undefined)
      parts.push(`${formatSeconds((totalBytes - receivedBytes) / speed)} left`);
    return parts.join(", ");
  }

  #bytesPerSecond(): number {
    const first = this.#seen[0];
    const last = this.#seen.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
  }
}

function amount(receivedBytes: number, totalBytes: number | undefined): string {
  return totalBytes === undefined
    ? formatBytes(receivedBytes)
    : `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
}

function formatSeconds(seconds: number): string {
  const rounded = Math.max(0, Math.ceil(seconds));
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
}
