/** What this machine has: processors, memory, GPU, disk and programs. */

import { execFile } from "node:child_process";
import { availableParallelism, cpus, totalmem } from "node:os";
import { promisify } from "node:util";
import type { LocalSettings } from "../catalog/local-settings.ts";
import { usesGpu } from "../engines/llama-cpp/gpu-use.ts";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";
import { nvidiaGpus } from "../kernel/process/gpus.ts";
import { formatBytes } from "./format-bytes.ts";

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 20_000;
/** Stands for the output of a program that did not end in time: it is there, and the machine is busy. */
export const LATE = Symbol("late");

export interface Machine {
  processor: string;
  cores: number;
  memoryBytes: number;
  freeBytes: number;
  /** What local models may use together. */
  modelMemoryBytes: number;
  /** Names of the GPUs; empty without any. */
  gpus: string[];
  /** Memory of the GPUs together that llama.cpp can use; undefined: none, or unknown. */
  gpuBytes?: number | undefined;
}

export async function inspectMachine({ memory }: LocalSettings): Promise<Machine> {
  // 0 or a number beyond the machine's memory: no limit is set.
  const limit = process.constrainedMemory();
  return {
    processor: cpus()[0]?.model.trim() ?? process.arch,
    cores: availableParallelism(),
    memoryBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
    freeBytes: process.availableMemory(),
    modelMemoryBytes: memory ?? defaultMemoryBudget(),
    ...(await findGpus()),
  };
}

async function findGpus(): Promise<Pick<Machine, "gpus" | "gpuBytes">> {
  if (process.platform === "darwin" && process.arch === "arm64") return { gpus: ["Apple silicon (Metal)"] };
  const gpus = await nvidiaGpus();
  const isUsable = await usesGpu({ gpu: "auto", gpuLayers: undefined });
  return {
    gpus: gpus.map(({ name, memoryBytes, driver }) => `${name}, ${formatBytes(memoryBytes)}, driver ${driver}`),
    gpuBytes: gpus.length === 0 || !isUsable ? undefined : gpus.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}

/** Output of a program without its last line break; undefined where it is missing or fails. */
export async function outputOf(
  program: string,
  words: readonly string[],
  timeoutMs = PROGRAM_TIMEOUT_MS,
): Promise<string | typeof LATE | undefined> {
  try {
    const { stdout } = await run(program, words, { timeout: timeoutMs });
    return stdout.trim();
  } catch (error) {
    return error instanceof Error && "killed" in error && error.killed === true ? LATE : undefined;
  }
}
