/** Reads text from untrusted files, each in a sandboxed process, at the consumer's pace. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Chunking, TextChunk } from "./chunk-text.ts";
import { DocumentError, type DocumentErrorCode } from "./document-error.ts";

export interface DocumentOptions {
  filename: string;
  chunking: Chunking;
}

/** What the process reports instead of chunks. */
export interface DocumentReport {
  /** Undefined for an unexpected error. */
  code: DocumentErrorCode | undefined;
  message: string;
}

type DocumentProcess = ChildProcessByStdio<Writable, Readable, null>;

const HERE = import.meta.url;
const ENTRY = fileURLToPath(new URL(`./document-child${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MEGABYTES = 1024;
/** Allows reading the code, and nothing else: no other file, no writing, no processes, no native code, no threads. */
const FLAGS = ["--permission", `--max-old-space-size=${MAX_HEAP_MEGABYTES}`, "--disable-warning=SecurityWarning"];
/** The sources or their build, the chunks that a bundle shares, and the folders where dependencies are installed. */
const CODE_PATHS = [
  ...["../../*", "../../../shared/*", "../../../package.json", "../../package.json"].map((path) =>
    fileURLToPath(new URL(path, HERE)),
  ),
  ...(createRequire(HERE).resolve.paths("unpdf") ?? []).map((path) => `${path}/*`),
];
const ERROR_DESCRIPTOR = 3;
/** A longer line is not one of the process's. */
const TIMEOUT_MS = 300_000;

/**
 * Yields the chunks of a file. Throws a DocumentError for a file without readable text, and the stream's error. Ends its
 * process when the consumer returns or `signal` aborts.
 */
export async function* readDocument(
  content: AsyncIterable<Uint8Array>,
  options: DocumentOptions,
  signal: AbortSignal,
): AsyncGenerator<TextChunk> {
  const child = start();
  const report = text(child.stdio[ERROR_DESCRIPTOR] as Readable).catch(() => "");
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const end = () => child.kill("SIGKILL");
  // Only the process's own work counts: a consumer that embeds each chunk takes longer.
  let timer = setTimeout(end, TIMEOUT_MS);
  signal.addEventListener("abort", end, { once: true });
  let failure: unknown;
  try {
    child.stdin.write(`${JSON.stringify(options)}\n`);
    const sent = pipeline(Readable.from(content), child.stdin).catch((error: NodeJS.ErrnoException) => {
      // A process that has ended reads no further.
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_PREMATURE_CLOSE") failure = error;
      if (failure !== undefined) end();
    });
    for await (const line of createInterface({ input: child.stdout })) {
      clearTimeout(timer);
      yield JSON.parse(line) as TextChunk;
      timer = setTimeout(end, TIMEOUT_MS);
    }
    const code = await exited;
    await sent;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    if (code !== 0) throw toDocumentError(await report);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    end();
  }
}

function start(): DocumentProcess {
  const allowed = CODE_PATHS.map((path) => `--allow-fs-read=${path}`);
  const child = spawn(process.execPath, [...FLAGS, ...allowed, ENTRY], {
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    env: {},
  });
  // A failed start ends the streams.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  return child as unknown as DocumentProcess;
}

function toDocumentError(report: string): DocumentError {
  // Killed by its limits on memory or time, or by a crash: the file is what differs from those that work.
  if (report === "") return new DocumentError("invalid_file", "Reading the file took too much memory or time.");
  const { code, message }: DocumentReport = JSON.parse(report);
  if (code !== undefined) return new DocumentError(code, message);
  return new DocumentError("invalid_file", "The file could not be read.", { cause: message });
}
