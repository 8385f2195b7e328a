/** What this machine has: processors, memory, GPU, disk and programs. */

import { execFile } from "node:child_process";
import { availableParallelism, cpus, totalmem } from "node:os";
import { promisify } from "node:util";
import type { LocalSettings } from "../catalog/local-settings.ts";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 20_000;

export interface Machine {
  processor: string;
  cores: number;
  memoryBytes: number;
  freeBytes: number;
  /** What local models may use together. */
  modelMemoryBytes: number;
  /** Names of GPUs that llama.cpp can use; empty without a GPU. */
  gpus: string[];
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
    gpus: await findGpus(),
  };
}

async function findGpus(): Promise<string[]> {
  if (process.platform === "darwin" && process.arch === "arm64") return ["Apple silicon (Metal)"];
  const listed = await outputOf("nvidia-smi", ["--query-gpu=name,memory.total", "--format=csv,noheader"]);
  return listed === undefined ? [] : listed.split("\n");
}

/** Output of a program without its last line break; undefined where it is missing or fails. */
export async function outputOf(program: string, words: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, words, { timeout: PROGRAM_TIMEOUT_MS });
    return stdout.trim();
  } catch {
    return undefined;
  }
}
