/** Reads text from untrusted files, each in a sandboxed process, at the consumer's pace. */

import { createRequire } from "node:module";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { unavailable } from "../faults.ts";
import { Child, type ChildEnd } from "../process/child.ts";
import { findOsSandbox, LIBRARY_FOLDERS } from "../process/os-sandbox.ts";
import type { Chunking, TextChunk } from "./chunk-text.ts";
import { DocumentError, type DocumentErrorCode } from "./document-error.ts";
import type { RecognitionFiles } from "./recognized-pictures.ts";

export interface DocumentOptions {
  filename: string;
  chunking: Chunking;
  /** Budget of CPU time for the file. */
  cpuSeconds: number;
  /** The setting with the budget; default: that of documents. */
  budgetSetting?: string;
  /**
   * What happens with images and with pages that are scans: `skip`, the default, leaves such pages out of a document,
   * `refuse` throws a DocumentError with `isPicture`, and the files of a model recognize their text.
   */
  pictures?: "skip" | "refuse" | RecognitionFiles;
}

/** Options that the process gets. */
export type ChildOptions = Required<Pick<DocumentOptions, "filename" | "chunking" | "pictures">>;

/** How the process ended. `code` is undefined for an unexpected error. */
export type DocumentReport =
  | { isComplete: true }
  | { code: DocumentErrorCode | undefined; message: string; isPicture: boolean };

const HERE = import.meta.url;
const ENTRY = fileURLToPath(new URL(`./document-child${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MEGABYTES = 1024;
/** Heap, buffers of the file and what it expands to. */
const MAX_BYTES = 2 * 1024 ** 3;
/** Allows reading the code, and nothing else: no other file, no writing, no processes, no native code, no threads. */
const FLAGS = ["--permission", `--max-old-space-size=${MAX_HEAP_MEGABYTES}`, "--disable-warning=SecurityWarning"];
/** ONNX Runtime and the decoder of images are native code. */
const NATIVE_FLAGS = ["--allow-addons"];
/** The sources or their build, the chunks that a bundle shares, and the folders where dependencies are installed. */
const CODE_PATHS = [
  ...["../../", "../../../shared/", "../../../packages/", "../../../package.json", "../../package.json"].map((path) =>
    fileURLToPath(new URL(path, HERE)),
  ),
  ...(createRequire(HERE).resolve.paths("unpdf") ?? []).map((path) => `${path}/`),
];
const DOCUMENT_BUDGET = "server.max_document_cpu_seconds";
const [INPUT, OUTPUT, REPORT_DESCRIPTOR] = [0, 1, 3];
/** A process that is stopped, or whose CPU time the system does not report. */
const TIMEOUT_MS = 300_000;

/**
 * Yields the chunks of a file. Throws a DocumentError for a file without readable text, a Fault when the process was
 * ended by somebody else, and the stream's error. Ends its process when the consumer returns or `signal` aborts.
 */
export async function* readDocument(
  content: AsyncIterable<Uint8Array>,
  options: DocumentOptions,
  signal: AbortSignal,
): AsyncGenerator<TextChunk> {
  const { filename, chunking, pictures = "skip" } = options;
  const child = await start(options);
  const report = text(child.output(REPORT_DESCRIPTOR)).catch(() => "");
  const end = () => child.kill();
  const giveUp = () => child.kill("killed");
  // Only the process's own work counts: a consumer that embeds each chunk takes longer.
  let timer = setTimeout(giveUp, TIMEOUT_MS);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  let failure: unknown;
  try {
    const input = child.input(INPUT);
    input.write(`${JSON.stringify({ filename, chunking, pictures } satisfies ChildOptions)}\n`);
    const sent = pipeline(Readable.from(content), input).catch((error: NodeJS.ErrnoException) => {
      // A process that has ended reads no further.
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_PREMATURE_CLOSE") failure = error;
      if (failure !== undefined) end();
    });
    for await (const line of createInterface({ input: child.output(OUTPUT) })) {
      clearTimeout(timer);
      yield JSON.parse(line) as TextChunk;
      timer = setTimeout(giveUp, TIMEOUT_MS);
    }
    const stated = await report;
    const problem = stated === "" ? toFailure(await child.ended, options) : toError(JSON.parse(stated));
    await sent;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    if (problem !== undefined) throw problem;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    end();
  }
}

async function start({ cpuSeconds, pictures }: DocumentOptions): Promise<Child> {
  const search = await findOsSandbox();
  const recognizes = typeof pictures === "object";
  const readable = [...CODE_PATHS, ...(recognizes ? [pictures.detector, pictures.recognizer] : [])];
  const allowed = readable.map((path) => `--allow-fs-read=${path.endsWith("/") ? `${path}*` : path}`);
  const files = recognizes ? [...readable, ...LIBRARY_FOLDERS] : readable;
  return new Child({
    program: process.execPath,
    args: [...FLAGS, ...(recognizes ? NATIVE_FLAGS : []), ...allowed, ENTRY],
    environment: { PATH: process.env.PATH },
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    budget: { cpuSeconds, residentBytes: MAX_BYTES },
    confinement: "sandbox" in search ? search.sandbox.confine(files, MAX_BYTES) : undefined,
  });
}

/** Why a process said nothing at its end. */
function toFailure({ cause }: ChildEnd, { cpuSeconds, budgetSetting = DOCUMENT_BUDGET }: DocumentOptions): Error {
  if (cause === "killed" || cause === "not-started") {
    return unavailable(
      "The process that reads the file was ended by the system. Try again.",
      "server_is_overloaded",
      5,
    );
  }
  if (cause === "cpuSeconds") {
    const limit = `${cpuSeconds} s of CPU time, the limit for a document (${budgetSetting})`;
    return new DocumentError("invalid_file", `Reading the file took more than ${limit}.`);
  }
  // The limit of the heap, or a crash: the file is what differs from those that work.
  return new DocumentError("invalid_file", "Reading the file took too much memory.");
}

function toError(report: DocumentReport): DocumentError | undefined {
  if ("isComplete" in report) return undefined;
  const { code, message, isPicture } = report;
  if (code !== undefined) return new DocumentError(code, message, { isPicture });
  return new DocumentError("invalid_file", "The file could not be read.", { cause: message });
}
