/** Python in a sandboxed process: variables and files last from run to run until it is closed or killed. */

import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, extname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { Child, type ChildEnd } from "../../../kernel/process/child.ts";
import { endWithService } from "../../../kernel/process/end-with-service.ts";
import { FrameError, readFrames, toFrame } from "../../../kernel/process/frames.ts";
import type { OsSandbox } from "../../../kernel/process/os-sandbox.ts";
import { isExhausted, toStartFault } from "../../../kernel/process/start-fault.ts";
import type { SandboxAnswer, SandboxRequest, TokenRequest } from "./sandbox-messages.ts";

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

/** The process was killed, with its variables; the message says which limit it exceeded. */
export class SandboxKilledError extends Error {}

const HERE = import.meta.url;
const ENTRY = fileURLToPath(new URL(`./sandbox-child${extname(import.meta.url)}`, HERE));
const WASM_PAGE_BYTES = 65_536;
const MEGABYTE = 1024 ** 2;
/** Memory of Node.js itself and of JavaScript beside that of Python. */
const OVERHEAD_MEGABYTES = 512;
const MAX_HEAP_MEGABYTES = 256;
const START_TIMEOUT_SECONDS = 120;
const ANSWERS = 3;
const REQUESTS = 4;
const TOKEN_BYTES = 16;
/** Bytes of a path in JSON: Python's file names have up to 255 characters, in up to nine folders. */
const MAX_PATH_BYTES = 16_384;
const LOST = "Its variables are lost.";

/** Code that leaves the sandbox of Python could write any answer. */
const Answer = lazy.object(() => ({
  isDone: z.boolean(),
  output: z.string(),
  outputBytes: z.int().nonnegative(),
  files: z.array(z.object({ path: z.string(), base64: z.string() })),
  removed: z.array(z.string()),
  leftOut: z.int().nonnegative(),
}));

export type NodeCommand = readonly [program: string, ...words: string[]];

/** Command of Node.js for sessions. Code that loops lets no timer of its process watch the service. */
export async function nodeCommand(sandbox: OsSandbox | undefined): Promise<NodeCommand> {
  const { execPath } = process;
  // The operating system's sandbox ends with the service by itself.
  if (sandbox !== undefined) return [execPath];
  const [program = execPath, ...words] = await endWithService([execPath]);
  return [program, ...words];
}

export class PythonSession {
  readonly #limits: PythonLimits;
  readonly #child: Child;
  readonly #answers: AsyncIterator<Buffer, void>;
  #killed: string | undefined;
  #isReady = false;

  /**
   * `sandbox`: the operating system's; without one, the process has the permissions of Node.js alone. `node`: the command
   * that starts Node.js, of which the operating system ends the process with the service.
   */
  constructor(limits: PythonLimits, sandbox: OsSandbox | undefined, [program, ...words]: NodeCommand) {
    this.#limits = limits;
    const folder = dirname(createRequire(HERE).resolve("pyodide/package.json")) + sep;
    const { maxOutputBytes, maxFileBytes, maxFiles, maxMemoryMegabytes } = limits;
    const maxBytes = (maxMemoryMegabytes + OVERHEAD_MEGABYTES) * MEGABYTE;
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
    this.#child = new Child({
      program,
      args: [...words, ...flags, ENTRY, ...options],
      environment: sandbox === undefined ? {} : { PATH: process.env.PATH },
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      cwd: folder,
      budget: { residentBytes: maxBytes },
      confinement: sandbox?.confine([folder, dirname(ENTRY)], maxBytes),
    });
    const maxFrameBytes = 6 * maxOutputBytes + 2 * maxFileBytes + 2 * maxFiles * MAX_PATH_BYTES + MEGABYTE;
    this.#answers = readFrames(this.#child.output(ANSWERS), maxFrameBytes)[Symbol.asyncIterator]();
  }

  get hasEnded(): boolean {
    return this.#child.hasEnded;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Runs one request at a time. Throws a SandboxKilledError, and the reason of `signal`, which kills the process. */
  async run(request: SandboxRequest, signal: AbortSignal): Promise<SandboxAnswer> {
    const leave = () => this.#kill("The run was aborted.");
    signal.addEventListener("abort", leave, { once: true });
    try {
      signal.throwIfAborted();
      if (!this.#isReady) {
        // No code has run yet that could write instead.
        await this.#next(START_TIMEOUT_SECONDS, "Python did not start in time.");
        this.#isReady = true;
      }
      const token = randomBytes(TOKEN_BYTES).toString("hex");
      const sent: TokenRequest = { ...request, token };
      this.#child.input(REQUESTS).write(toFrame(JSON.stringify(sent)));
      const { timeoutSeconds } = this.#limits;
      const late = `The code took longer than ${timeoutSeconds} s and was stopped. ${LOST}`;
      const frame = await this.#next(timeoutSeconds, late);
      return this.#bounded(readAnswer(frame, token) ?? this.#refuse(new FrameError("The token is wrong.")));
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

  async #next(seconds: number, late: string): Promise<Buffer> {
    const timer = setTimeout(() => this.#kill(late), seconds * 1000);
    const frame = await this.#answers
      .next()
      .catch((error: unknown) => this.#refuse(error))
      .finally(() => clearTimeout(timer));
    if (frame.value === undefined || this.#killed !== undefined) {
      if (this.#killed !== undefined) throw new SandboxKilledError(this.#killed);
      const end = await this.#child.ended;
      if (isExhausted(end.error)) throw toStartFault(end.error);
      throw new SandboxKilledError(describeEnd(end));
    }
    return frame.value;
  }

  #refuse(error: unknown): never {
    if (this.#killed !== undefined) throw new SandboxKilledError(this.#killed);
    throw new SandboxKilledError(`The code wrote to the channel of results and was stopped. ${LOST}`, { cause: error });
  }

  #bounded(answer: SandboxAnswer): SandboxAnswer {
    const { maxOutputBytes, maxFiles } = this.#limits;
    return {
      ...answer,
      output: answer.output.slice(0, maxOutputBytes),
      files: answer.files.slice(0, maxFiles).filter(({ path }) => isInFolder(path)),
    };
  }

  #kill(reason: string): void {
    if (this.#child.hasEnded) return;
    this.#killed ??= reason;
    this.#child.kill();
  }
}

/** Returns undefined for what the process did not write in answer to the request of this token. */
export function readAnswer(frame: Buffer, token: string): SandboxAnswer | undefined {
  const text = frame.toString("utf8");
  return text.startsWith(token) ? Answer.parse(JSON.parse(text.slice(token.length))) : undefined;
}

function describeEnd({ cause }: ChildEnd): string {
  return cause === "residentBytes"
    ? `The code used too much memory and was stopped. ${LOST}`
    : `Python ended, probably because the code used too much memory. ${LOST}`;
}

/** Whether a path is below /mnt/data, without steps upward. */
export function isInFolder(path: unknown): path is string {
  return (
    typeof path === "string" && path.length <= 500 && /^\/mnt\/data\/./.test(path) && !/(^|\/)\.\.?(\/|$)/.test(path)
  );
}
