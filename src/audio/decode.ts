/** Decodes files that nobody need trust, each in a process of its own, at the pace at which its samples are read. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Fault, invalidRequest, unavailable } from "../faults.ts";
import type { DecodeFailure } from "./decode-child.ts";
import type { DecodeOrder } from "./decode-file.ts";
import { decodeWithFfmpeg } from "./ffmpeg.ts";
import { readSamples } from "./read-samples.ts";
import { UnreadableFile } from "./unreadable-file.ts";

type DecodeProcess = ChildProcessByStdio<Writable, Readable, null>;

const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./decode-child.ts" : "./decode-child.js", import.meta.url),
);
/** It may read files and do nothing else: no writing, no processes, no native code. */
const FLAGS = ["--permission", "--max-old-space-size=256", "--disable-warning=SecurityWarning"];
/** What it needs to read of itself: this code, and wherever packages may lie. */
const OWN_FILES = [
  fileURLToPath(new URL("../", import.meta.url)),
  fileURLToPath(new URL("../../package.json", import.meta.url)),
  ...(createRequire(import.meta.url).resolve.paths("mediabunny") ?? []),
  // Where a link among those leads.
  fileURLToPath(import.meta.resolve("mediabunny")).replace(/(.*[\\/]node_modules[\\/]).*/s, "$1"),
];
const SPARE_SECONDS = 300;

export interface DecoderOptions {
  /** The only one that files are read from; left out: any. */
  folder?: string;
  /** FFmpeg's command, for files that the decoders here do not read. */
  ffmpeg?: string | undefined;
}

export class Decoder {
  /** Started ahead, because starting takes longer than decoding a short recording. */
  #spare: DecodeProcess | undefined;
  #spareEnd: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #ffmpeg: string | undefined;
  readonly #readable: readonly string[];

  constructor({ folder, ffmpeg }: DecoderOptions = {}) {
    this.#ffmpeg = ffmpeg;
    this.#readable = folder === undefined ? ["*"] : [...OWN_FILES, folder];
  }

  /** Readies a process for a file that is about to come. */
  warm(): void {
    if (this.#isClosed) return;
    this.#spare ??= this.#startSpare();
    clearTimeout(this.#spareEnd);
    this.#spareEnd = setTimeout(() => this.#endSpare(), SPARE_SECONDS * 1000).unref();
  }

  /** Mono samples (-1 to 1), decoded anew each time that they are iterated. A file that is no audio throws a Fault. */
  samples(order: DecodeOrder, signal: AbortSignal): AsyncIterable<Float32Array> {
    return { [Symbol.asyncIterator]: () => this.#decode(order, signal) };
  }

  close(): void {
    this.#isClosed = true;
    this.#endSpare();
  }

  async *#decode(order: DecodeOrder, signal: AbortSignal): AsyncGenerator<Float32Array> {
    let isBegun = false;
    try {
      for await (const samples of this.#decodeHere(order, signal)) {
        isBegun = true;
        yield samples;
      }
    } catch (error) {
      if (isBegun || this.#ffmpeg === undefined || !(error instanceof UnreadableFile)) throw error;
      yield* decodeWithFfmpeg(this.#ffmpeg, order, signal);
    }
  }

  async *#decodeHere(order: DecodeOrder, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const child = this.#spare ?? start(this.#readable);
    this.#spare = undefined;
    if (child.pid === undefined)
      throw unavailable("No process to decode the file could be started.", "engine_failed", 5);
    const failure = text(child.stdio[FAILURE_DESCRIPTOR] as Readable).catch(() => "");
    try {
      child.stdin.on("error", () => {});
      child.stdin.write(`${JSON.stringify(order)}\n`);
      yield* readSamples(child, signal);
      if (child.exitCode !== 0 && !signal.aborted) throw toFault(await failure);
    } finally {
      if (!signal.aborted) this.warm();
    }
  }

  /** One that ends while it waits, as when memory runs out, must not be taken for a file that cannot be read. */
  #startSpare(): DecodeProcess {
    const spare = start(this.#readable);
    const forget = () => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.once("exit", forget).once("error", forget);
    return spare;
  }

  #endSpare(): void {
    clearTimeout(this.#spareEnd);
    this.#spare?.kill("SIGKILL");
    this.#spare = undefined;
  }
}

const FAILURE_DESCRIPTOR = 3;

function start(readable: readonly string[]): DecodeProcess {
  const allowed = readable.map((path) => `--allow-fs-read=${path}`);
  const child = spawn(process.execPath, [...FLAGS, ...allowed, ENTRY], {
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    env: {},
  });
  // A start that fails shows as an end without samples.
  child.on("error", () => {});
  return child as unknown as DecodeProcess;
}

function toFault(report: string): Fault {
  // Killed, by its bound on memory or time, or by a decoder's fault: the file is what differs from those that work.
  if (report === "") return invalidRequest("The file could not be decoded as audio.", "file", "invalid_value");
  const { kind, message, param, code, isUnreadable }: DecodeFailure = JSON.parse(report);
  if (isUnreadable) return new UnreadableFile(message);
  if (kind !== undefined) return new Fault(kind, message, { param, code });
  return unavailable("The file could not be decoded.", "engine_failed", 1, message);
}
