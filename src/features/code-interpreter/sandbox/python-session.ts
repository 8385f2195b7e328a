/** Python in a sandboxed process: variables and files last from run to run until it is closed or killed. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, sep } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SandboxAnswer, SandboxRequest } from "./sandbox-messages.ts";

export interface PythonLimits {
  maxMemoryMegabytes: number;
  /** Bound of one run. */
  timeoutSeconds: number;
  maxOutputBytes: number;
  /** Bound of the files that one run writes. */
  maxFileBytes: number;
  /** Files that one run writes. */
  maxFiles: number;
}

export type PythonResult = Extract<SandboxAnswer, { type: "done" }>;

/** The process was killed, with its variables; the message says which limit it exceeded. */
export class SandboxKilledError extends Error {}

const HERE = import.meta.url;
const ENTRY = fileURLToPath(new URL(`./sandbox-child${extname(HERE)}`, HERE));
const WASM_PAGE_BYTES = 65_536;
const MEGABYTE = 1024 ** 2;
/** Memory of Node.js itself and of JavaScript beside that of Python. */
const OVERHEAD_MEGABYTES = 512;
const MAX_HEAP_MEGABYTES = 256;
const START_TIMEOUT_SECONDS = 120;
const MEMORY_POLL_MS = 250;
const PAGE_BYTES = 4096;

export class PythonSession {
  readonly #limits: PythonLimits;
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #watch: NodeJS.Timeout;
  #killed: string | undefined;
  #hasEnded = false;
  #isReady = false;

  constructor(limits: PythonLimits) {
    this.#limits = limits;
    const folder = dirname(createRequire(HERE).resolve("pyodide/package.json")) + sep;
    const { maxOutputBytes, maxFileBytes, maxFiles, maxMemoryMegabytes } = limits;
    const flags = [
      // No files but those that follow, no writing, no processes, no threads, no native code, no inspector.
      ...["--permission", `--allow-fs-read=${folder}*`, `--allow-fs-read=${dirname(ENTRY)}${sep}*`],
      "--disallow-code-generation-from-strings",
      `--wasm-max-mem-pages=${Math.floor((maxMemoryMegabytes * MEGABYTE) / WASM_PAGE_BYTES)}`,
      `--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
      "--no-warnings",
    ];
    const sizes = [maxOutputBytes, maxFileBytes, maxFiles].map(String);
    const options = [pathToFileURL(`${folder}pyodide.mjs`).href, folder, ...sizes];
    this.#child = spawn(process.execPath, [...flags, ENTRY, ...options], {
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      env: {},
      cwd: folder,
    });
    // A failed start ends the streams.
    this.#child.on("error", () => {});
    this.#child.stdin?.on("error", () => {});
    this.#child.once("close", () => {
      this.#hasEnded = true;
      clearInterval(this.#watch);
    });
    this.#answers = createInterface({ input: this.#child.stdio[3] as Readable })[Symbol.asyncIterator]();
    this.#watch = setInterval(() => void this.#checkMemory(), MEMORY_POLL_MS).unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded || this.#killed !== undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Runs one request at a time. Throws a SandboxKilledError, and the reason of `signal`, which kills the process. */
  async run(request: SandboxRequest, signal: AbortSignal): Promise<PythonResult> {
    const leave = () => this.#kill("The run was aborted.");
    signal.addEventListener("abort", leave, { once: true });
    try {
      signal.throwIfAborted();
      if (!this.#isReady) {
        await this.#next(START_TIMEOUT_SECONDS, "Python did not start in time.");
        this.#isReady = true;
      }
      this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
      const { timeoutSeconds } = this.#limits;
      const late = `The code took longer than ${timeoutSeconds} s and was stopped. Its variables are lost.`;
      const answer = await this.#next(timeoutSeconds, late);
      if (answer.type === "done") return this.#bounded(answer);
      throw new SandboxKilledError("Python did not answer.");
    } catch (error) {
      this.#kill("Python ended.");
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  close(): void {
    this.#kill("The session was closed.");
  }

  async #next(seconds: number, late: string): Promise<SandboxAnswer> {
    const timer = setTimeout(() => this.#kill(late), seconds * 1000);
    try {
      const { value, done } = await this.#answers.next();
      if (done !== true && this.#killed === undefined) return JSON.parse(value) as SandboxAnswer;
    } finally {
      clearTimeout(timer);
    }
    const crash = "Python ended, probably because the code used too much memory. Its variables are lost.";
    throw new SandboxKilledError(this.#killed ?? crash);
  }

  /** Code that leaves the sandbox of Python could write any answer. */
  #bounded(answer: PythonResult): PythonResult {
    const { maxOutputBytes, maxFiles } = this.#limits;
    const files = answer.files
      .slice(0, maxFiles)
      .filter(({ path, base64 }) => isInFolder(path) && typeof base64 === "string");
    return { ...answer, output: String(answer.output).slice(0, maxOutputBytes), files };
  }

  /** Memory outside of WebAssembly and the heap has no limit in V8. Only Linux reports it. */
  async #checkMemory(): Promise<void> {
    const text = await readFile(`/proc/${this.#child.pid}/statm`, "utf8").catch(() => "");
    const megabytes = (Number(text.split(" ")[1] ?? 0) * PAGE_BYTES) / MEGABYTE;
    if (megabytes > this.#limits.maxMemoryMegabytes + OVERHEAD_MEGABYTES) {
      this.#kill("The code used too much memory and was stopped. Its variables are lost.");
    }
  }

  #kill(reason: string): void {
    if (this.#hasEnded) return;
    this.#killed ??= reason;
    clearInterval(this.#watch);
    this.#child.kill("SIGKILL");
  }
}

/** Whether a path is below /mnt/data, without steps upward. */
export function isInFolder(path: unknown): path is string {
  return (
    typeof path === "string" && path.length <= 500 && /^\/mnt\/data\/./.test(path) && !/(^|\/)\.\.?(\/|$)/.test(path)
  );
}
