/** Shows downloads: a progress bar per model on a terminal, plain lines elsewhere. */

import type CliProgress from "cli-progress";
import type { PullProgress } from "../model-store/pull-progress.ts";
import { formatBytes } from "./format-bytes.ts";
import { Transfer } from "./transfer.ts";

export interface Progress {
  update(progress: PullProgress): void;
  /** Writes permanent text above the bars. */
  print(text: string): void;
  /** Stops drawing; later updates start new bars. */
  stop(): void;
}

export async function createProgress(output: NodeJS.WriteStream): Promise<Progress> {
  if (!output.isTTY) return new ProgressLines(output);
  const { default: cliProgress } = await import("cli-progress");
  return new ProgressBars(output, cliProgress);
}

const BAR_WIDTH = 24;

class ProgressBars implements Progress {
  readonly #library: typeof CliProgress;
  readonly #output: NodeJS.WriteStream;
  readonly #running = new Map<string, { bar: CliProgress.SingleBar; transfer: Transfer }>();
  #bars: CliProgress.MultiBar | undefined;

  constructor(output: NodeJS.WriteStream, library: typeof CliProgress) {
    this.#output = output;
    this.#library = library;
  }

  update(progress: PullProgress): void {
    const { model, phase } = progress;
    const existing = this.#running.get(model);
    if (phase === "stored" || phase === "failed") {
      if (existing === undefined) return;
      existing.transfer.see({ ...progress, source: existing.transfer.progress.source }, Date.now());
      this.#running.delete(model);
      if (this.#running.size === 0) this.stop();
      return;
    }
    if (existing === undefined) {
      const transfer = new Transfer(progress, Date.now());
      const bar = this.#allBars().create(transfer.totalBytes ?? 0, transfer.receivedBytes, { transfer });
      this.#running.set(model, { bar, transfer });
      return;
    }
    existing.transfer.see(progress, Date.now());
    existing.bar.setTotal(existing.transfer.totalBytes ?? 0);
    existing.bar.update(existing.transfer.receivedBytes);
  }

  print(text: string): void {
    if (this.#bars === undefined) this.#output.write(text);
    else this.#bars.log(text.endsWith("\n") ? text : `${text}\n`);
  }

  stop(): void {
    this.#bars?.stop();
    this.#bars = undefined;
    this.#running.clear();
  }

  #allBars(): CliProgress.MultiBar {
    this.#bars ??= new this.#library.MultiBar({
      stream: this.#output,
      barsize: BAR_WIDTH,
      emptyOnZero: true,
      forceRedraw: true,
      // The service handles signals itself.
      gracefulExit: false,
      format: (options, { progress }, { transfer }: { transfer: Transfer }) =>
        describeBar(transfer, this.#library.Format.BarFormat(progress, options)),
    });
    return this.#bars;
  }
}

function describeBar(transfer: Transfer, bar: string): string {
  const { receivedBytes, totalBytes } = transfer;
  const { model, phase, source } = transfer.progress;
  if (phase === "stored") return `${model}  downloaded ${formatBytes(receivedBytes)} from ${source}`;
  if (phase === "failed") return `${model}  download failed`;
  if (phase === "waiting") return `${model}  waiting for another process to download it`;
  if (receivedBytes === 0) return `${model}  trying ${source}`;
  const barText = totalBytes === undefined ? "" : `[${bar}]  `;
  return `${model}  from ${source}  ${barText}${transfer.describe()}`;
}

const LINE_INTERVAL_MS = 10_000;

class ProgressLines implements Progress {
  readonly #output: NodeJS.WriteStream;
  readonly #running = new Map<string, { transfer: Transfer; lineAtMs: number; heading: string }>();

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  update(progress: PullProgress): void {
    const { model, phase } = progress;
    const nowMs = Date.now();
    const existing = this.#running.get(model);
    if (phase === "stored" || phase === "failed") {
      this.#running.delete(model);
      const size = formatBytes(progress.completedBytes);
      if (existing !== undefined) this.#line(model, phase === "stored" ? `downloaded ${size}` : "download failed");
      return;
    }
    const transfer = existing?.transfer ?? new Transfer(progress, nowMs);
    transfer.see(progress, nowMs);
    const heading =
      phase === "waiting"
        ? "waiting for another process to download it"
        : `trying ${progress.source} for ${progress.file}`;
    if (existing?.heading !== heading) {
      this.#running.set(model, { transfer, lineAtMs: nowMs, heading });
      this.#line(model, heading);
    } else if (phase === "fetching" && nowMs - existing.lineAtMs >= LINE_INTERVAL_MS) {
      existing.lineAtMs = nowMs;
      this.#line(model, transfer.describe());
    }
  }

  print(text: string): void {
    this.#output.write(text);
  }

  stop(): void {
    this.#running.clear();
  }

  #line(model: string, text: string): void {
    this.#output.write(`${model}: ${text}\n`);
  }
}
