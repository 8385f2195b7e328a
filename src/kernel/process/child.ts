/**
 * Child processes of the service: all have a lower priority, only the environment that they are given, a budget of
 * memory and CPU time, and an end whose cause is one of a few.
 */

import { type ChildProcess, type SpawnOptions, type StdioNull, type StdioPipe, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type ChildBudget, watchBudget } from "./child-budget.ts";
import { lowerPriority } from "./lower-priority.ts";
import { killTree } from "./process-usage.ts";
import { toStartFault } from "./start-fault.ts";

export interface ChildOptions {
  program: string;
  args: readonly string[];
  /** All variables that it gets. */
  environment: Readonly<Record<string, string | undefined>>;
  /** One entry per descriptor. */
  stdio: readonly (StdioNull | StdioPipe | "ipc")[];
  cwd?: string;
  /** Starts a process group, which a terminal's Ctrl-C does not reach. */
  hasOwnGroup?: boolean;
  budget?: ChildBudget;
  /** Runs it in the operating system's sandbox. */
  confinement?: Confinement | undefined;
}

export interface Confinement {
  /** Filter of system calls, which the sandbox reads from a descriptor. */
  filter: Buffer | undefined;
  wrap(command: Command & { filterDescriptor: number }): Command;
}

interface Command {
  program: string;
  args: readonly string[];
}

export type EndCause =
  /** It ended by itself, with an exit code. */
  | "exit"
  /** Its owner ended it. */
  | "closed"
  /** It exceeded its budget. */
  | keyof ChildBudget
  /** A fault of its own, such as SIGSEGV, or the SIGABRT of V8 without memory. */
  | "crash"
  /** Someone else ended it: an operator, a container runtime, or the system without memory. */
  | "killed"
  | "not-started";

export interface ChildEnd {
  cause: EndCause;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  error?: Error;
}

const SHELL = "/bin/sh";
const RUN_WITH_CPU_LIMIT = 'ulimit -S -t "$1"; shift; exec "$@"';
const SPARE_CPU_SECONDS = 2;
const SIGNAL_EXIT_CODE = 128;
/** Signals that come from outside of a process. */
const FOREIGN_SIGNALS: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

export class Child {
  readonly process: ChildProcess;
  /** Resolves once it has ended and its streams are read. */
  readonly ended: Promise<ChildEnd>;
  readonly #budget: ChildBudget;
  /** Whether it is the first of a process group. */
  readonly #hasGroup: boolean;
  #cause: EndCause | undefined;
  #hasEnded = false;

  /** Throws a Fault when the system has no file descriptors or memory for another process. */
  constructor({ environment, stdio, cwd, hasOwnGroup = false, budget = {}, confinement, ...own }: ChildOptions) {
    this.#budget = budget;
    const filter = confinement?.filter;
    // A sandbox that is killed while it is set up leaves a process of its group behind, which waits for it for good.
    this.#hasGroup = (hasOwnGroup || confinement !== undefined) && process.platform !== "win32";
    const confined = confinement?.wrap({ ...own, filterDescriptor: stdio.length }) ?? own;
    const { program, args } = budget.cpuSeconds === undefined ? confined : limitCpu(confined, budget.cpuSeconds);
    this.process = start(program, args, {
      stdio: [...stdio, ...(filter === undefined ? [] : (["pipe"] as const))],
      env: environment,
      detached: this.#hasGroup,
      serialization: "advanced",
      ...(cwd !== undefined && { cwd }),
    });
    const { pid } = this.process;
    if (pid !== undefined) lowerPriority(pid);
    // A process that has ended reads no further.
    for (const stream of this.process.stdio) stream?.on("error", () => {});
    if (filter !== undefined) this.input(stdio.length).end(filter);
    this.ended = this.#watch(confinement !== undefined);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded || this.#cause !== undefined;
  }

  /** The stream of a descriptor that is a pipe from the child. */
  output(descriptor: number): Readable {
    return this.process.stdio[descriptor] as Readable;
  }

  /** The stream of a descriptor that is a pipe to the child. */
  input(descriptor: number): Writable {
    return this.process.stdio[descriptor] as Writable;
  }

  /** Kills it at once; the first cause stands. */
  kill(cause: EndCause = "closed"): void {
    if (this.#hasEnded) return;
    this.#cause ??= cause;
    if (this.#killGroup()) return;
    const { pid, exitCode, signalCode } = this.process;
    // Without a group, what it has started would go on. Its number may be another process's once it has exited.
    if (pid !== undefined && exitCode === null && signalCode === null) killTree(pid);
  }

  /** Returns false where it has no group, or none any more. */
  #killGroup(): boolean {
    if (!this.#hasGroup || this.pid === undefined) return false;
    try {
      return process.kill(-this.pid, "SIGKILL");
    } catch {
      return false;
    }
  }

  #watch(isConfined: boolean): Promise<ChildEnd> {
    const { pid } = this;
    const stopWatching = pid === undefined ? () => {} : watchBudget(pid, this.#budget, (limit) => this.kill(limit));
    return new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null, error?: Error) => {
        stopWatching();
        this.#hasEnded = true;
        const cause = this.#cause ?? causeOf(signal, error);
        resolve({ cause, code, signal, ...(error && { error }) });
      };
      this.process.once("exit", () => {
        stopWatching();
        if (isConfined) this.#killGroup();
      });
      this.process.once("close", (code, signal) => end(code, signal ?? (isConfined ? signalOf(code) : null)));
      this.process.on("error", (error) => {
        // Other errors concern a message or a signal.
        if (this.pid === undefined) end(null, null, error);
      });
    });
  }
}

function start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    const child = spawn(program, args, options);
    // Before anything can throw: an error without a listener ends the service.
    child.on("error", () => {});
    // Without descriptors for them, Node.js makes no streams, whatever its types say.
    if ((child.stdio as unknown) !== undefined) return child;
  } catch (error) {
    throw toStartFault(error);
  }
  throw toStartFault(Object.assign(new Error(`spawn ${program} EMFILE`), { code: "EMFILE" }));
}

function limitCpu(command: Command, seconds: number): Command {
  if (process.platform === "win32" || !existsSync(SHELL)) return command;
  const limit = String(Math.ceil(seconds) + SPARE_CPU_SECONDS);
  return { program: SHELL, args: ["-c", RUN_WITH_CPU_LIMIT, "sh", limit, command.program, ...command.args] };
}

/** The sandbox exits in place of its program, as a shell does. */
function signalOf(code: number | null): NodeJS.Signals | null {
  const number = (code ?? 0) - SIGNAL_EXIT_CODE;
  const match = Object.entries(constants.signals).find(([, each]) => each === number);
  return match === undefined ? null : (match[0] as NodeJS.Signals);
}

function causeOf(signal: NodeJS.Signals | null, error: Error | undefined): EndCause {
  if (error !== undefined) return "not-started";
  if (signal === null) return "exit";
  if (signal === "SIGXCPU") return "cpuSeconds";
  return FOREIGN_SIGNALS.has(signal) ? "killed" : "crash";
}

type StartProcess = (
  program: string,
  args: readonly string[],
  options: { stdio: ("pipe" | "ignore" | "ipc")[]; env: Record<string, string | undefined> },
) => ChildProcess;

/** Starts processes for a package that does not know the service, as `spawn` does. */
function starterWithin(budget: ChildBudget): StartProcess {
  return (program, args, { stdio, env }) => new Child({ program, args, environment: env, stdio, budget }).process;
}

/** Decoders hold a part of a recording, FFmpeg some hundreds of megabytes. */
export const startConverter: StartProcess = starterWithin({ residentBytes: 2 * 1024 ** 3 });

/** Silero's model takes some 100 MB with its runtime, and each recording a few kilobytes. */
export const startSpeechDetector: StartProcess = starterWithin({ residentBytes: 1024 ** 3 });
