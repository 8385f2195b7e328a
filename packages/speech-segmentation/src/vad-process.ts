/**
 * Silero VAD in a child process: ONNX Runtime computes on the calling thread, and a crash in native code ends the
 * process that it happens in.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { VadStream } from "./silero-vad.ts";
import type { VadReply, VadRequest } from "./vad-child.ts";

const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./vad-child.ts" : "./vad-child.js", import.meta.url),
);

export interface HostedVadStream extends VadStream {
  /** Frees the state of the recording. */
  close(): void;
}

interface Waiting {
  resolve: (probability: number) => void;
  reject: (error: Error) => void;
}

/** Starts a process with this environment, a channel of messages and no other streams, as `spawn` does. */
export type StartVadProcess = (
  program: string,
  args: readonly string[],
  options: { stdio: ("ignore" | "ipc")[]; env: Record<string, string | undefined> },
) => ChildProcess;

const startProcess: StartVadProcess = (program, args, options) =>
  spawn(program, args, { ...options, serialization: "advanced" });

export class VadProcess {
  readonly #path: string;
  readonly #startProcess: StartVadProcess;
  /** Started by the first window, and by the first one after a crash. */
  #child: ChildProcess | undefined;
  #lastStream = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** `path` is the ONNX file. `start` may bound the process, whose messages need the serialization `advanced`. */
  constructor(path: string, start: StartVadProcess = startProcess) {
    this.#path = path;
    this.#startProcess = start;
  }

  /** Starts a recording, whose windows are scored one after the other. After a crash it continues without its past. */
  stream(): HostedVadStream {
    this.#lastStream += 1;
    const stream = this.#lastStream;
    let isClosed = false;
    return {
      probability: (window) =>
        new Promise((resolve, reject) => {
          // The process would keep the state of the recording from then on.
          if (isClosed) return reject(new Error("The recording has ended."));
          const child = this.#start();
          this.#waiting.set(stream, { resolve, reject });
          send(child, { stream, window });
        }),
      close: () => {
        isClosed = true;
        if (this.#child !== undefined) send(this.#child, { stream });
      },
    };
  }

  close(): void {
    this.#child?.kill("SIGKILL");
  }

  #start(): ChildProcess {
    if (this.#child !== undefined) return this.#child;
    const child = this.#startProcess(process.execPath, [ENTRY, this.#path], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    this.#child = child;
    child.on("message", (reply: VadReply) => {
      const waiting = this.#waiting.get(reply.stream);
      this.#waiting.delete(reply.stream);
      if ("probability" in reply) waiting?.resolve(reply.probability);
      else waiting?.reject(new Error(reply.error));
    });
    const forget = () => {
      if (this.#child !== child) return;
      this.#child = undefined;
      const failed = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of failed) reject(new Error("The process that detects speech has ended."));
    };
    child.once("exit", forget).once("error", forget);
    return child;
  }
}

function send(child: ChildProcess, request: VadRequest): void {
  // The exit of a child that is gone rejects what waits for it.
  if (child.connected) child.send(request, () => {});
}
