/** Decodes untrusted files, each in a sandboxed process, at the consumer's pace. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { AudioError } from "./audio-error.ts";
import type { DecodeReport } from "./decode-child.ts";
import type { DecodeOptions } from "./decode-file.ts";
import { decodeWithFfmpeg } from "./ffmpeg-decoder.ts";
import { readSamples, type StartProcess } from "./read-samples.ts";

type DecodeProcess = ChildProcessByStdio<Writable, Readable, null>;

const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./decode-child.ts" : "./decode-child.js", import.meta.url),
);
/** Allows reading files and nothing else: no writing, no processes, no native code. */
const FLAGS = ["--permission", "--max-old-space-size=256", "--disable-warning=SecurityWarning"];
/** Paths of the child's code: this package, and every folder that its dependencies may be installed in. */
const CODE_PATHS = [
  fileURLToPath(new URL("./", import.meta.url)),
  fileURLToPath(new URL("../package.json", import.meta.url)),
  ...(createRequire(import.meta.url).resolve.paths("mediabunny") ?? []),
  // The target, where one of those is a symbolic link.
  fileURLToPath(import.meta.resolve("mediabunny")).replace(/(.*[\\/]node_modules[\\/]).*/s, "$1"),
];
const SPARE_SECONDS = 300;

export interface DecoderOptions {
  /** The only folder that files are read from; any when left out. */
  folder?: string;
  /** Command of FFmpeg, for files that the built-in decoders cannot read. */
  ffmpeg?: string | undefined;
  /** Executable of Node.js; this process's when left out. */
  node?: string;
  /** Starts the processes; `spawn` of Node.js when left out. */
  startProcess?: StartProcess;
}

export class Decoder {
  /** Started in advance, because starting takes longer than decoding a short recording. */
  #spare: DecodeProcess | undefined;
  #spareEnd: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #ffmpeg: string | undefined;
  readonly #node: string;
  readonly #readable: readonly string[];
  readonly #startProcess: StartProcess;

  constructor({ folder, ffmpeg, node = process.execPath, startProcess = spawn }: DecoderOptions = {}) {
    this.#startProcess = startProcess;
    this.#ffmpeg = ffmpeg;
    this.#node = node;
    // With the wildcard, which Node adds only to a folder that exists when the process starts.
    this.#readable = folder === undefined ? ["*"] : [...CODE_PATHS, join(folder, "*")];
  }

  /** Starts a process for a file that is about to arrive. It ends after 5 minutes without one. */
  warm(): void {
    if (this.#isClosed) return;
    try {
      this.#spare ??= this.#startSpare();
    } catch {
      // Without a spare one, the file starts its own, and tells why it cannot.
      return;
    }
    clearTimeout(this.#spareEnd);
    this.#spareEnd = setTimeout(() => this.#endSpare(), SPARE_SECONDS * 1000).unref();
  }

  /** Yields mono samples (-1 to 1). Each iteration decodes the file again. Throws an AudioError while iterating. */
  decode(options: DecodeOptions, signal: AbortSignal): AsyncIterable<Float32Array> {
    return { [Symbol.asyncIterator]: () => this.#decodeWithFallback(options, signal) };
  }

  close(): void {
    this.#isClosed = true;
    this.#endSpare();
  }

  async *#decodeWithFallback(options: DecodeOptions, signal: AbortSignal): AsyncGenerator<Float32Array> {
    let hasSamples = false;
    try {
      for await (const samples of this.#decodeInChild(options, signal)) {
        hasSamples = true;
        yield samples;
      }
    } catch (error) {
      if (hasSamples || this.#ffmpeg === undefined || !isUnreadable(error)) throw error;
      yield* decodeWithFfmpeg(this.#ffmpeg, options, signal, this.#startProcess);
    }
  }

  async *#decodeInChild(options: DecodeOptions, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const child = this.#spare ?? this.#start();
    this.#spare = undefined;
    if (child.pid === undefined) {
      throw new AudioError("decoder_not_started", "The process that decodes the file could not be started.");
    }
    const report = text(child.stdio[REPORT_DESCRIPTOR] as Readable).catch(() => "");
    try {
      child.stdin.on("error", () => {});
      child.stdin.write(`${JSON.stringify(options)}\n`);
      yield* readSamples(child, signal);
      const failure = signal.aborted ? undefined : toFailure(await report);
      if (failure !== undefined) throw failure;
    } finally {
      if (!signal.aborted) this.warm();
    }
  }

  /** Forgets a spare process that ends while it waits: its end must not be blamed on the next file. */
  #startSpare(): DecodeProcess {
    const spare = this.#start();
    const forget = () => {
      if (this.#spare === spare) this.#spare = undefined;
    };
    spare.once("exit", forget).once("error", forget);
    return spare;
  }

  #start(): DecodeProcess {
    const allowed = this.#readable.map((path) => `--allow-fs-read=${path}`);
    const child = this.#startProcess(this.#node, [...FLAGS, ...allowed, ENTRY], {
      stdio: ["pipe", "pipe", "ignore", "pipe"],
      env: {},
    });
    // A failed start shows as an undefined pid.
    child.on("error", () => {});
    return child as unknown as DecodeProcess;
  }

  #endSpare(): void {
    clearTimeout(this.#spareEnd);
    this.#spare?.kill("SIGKILL");
    this.#spare = undefined;
  }
}

const REPORT_DESCRIPTOR = 3;

function isUnreadable(error: unknown): boolean {
  return error instanceof AudioError && error.code === "unreadable";
}

function toFailure(text: string): AudioError | undefined {
  // Killed by its limits on memory or time, or by a crash: the file is what differs from those that work.
  if (text === "") return new AudioError("decoder_killed", "The file could not be decoded as audio.");
  const report: DecodeReport = JSON.parse(text);
  if ("isComplete" in report) return undefined;
  const { code, message } = report;
  if (code !== undefined) return new AudioError(code, message);
  return new AudioError("decoder_failed", "The file could not be decoded.", { cause: message });
}
