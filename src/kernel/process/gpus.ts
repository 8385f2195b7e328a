/** GPUs of this machine, by NVIDIA's own program. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const TIMEOUT_MS = 20_000;
const MEBIBYTE = 2 ** 20;
/** For the driver, the display and other programs. */
const RESERVED_SHARE = 0.05;

export interface Gpu {
  name: string;
  memoryBytes: number;
  /** Version of the driver. */
  driver: string;
}

let queried: Promise<readonly Gpu[]> | undefined;

/** Queried once; a GPU is not added while the process runs. Empty where `nvidia-smi` is missing or fails. */
export function nvidiaGpus(): Promise<readonly Gpu[]> {
  queried ??= query();
  return queried;
}

async function query(): Promise<readonly Gpu[]> {
  try {
    const fields = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"];
    return parseGpus((await run("nvidia-smi", fields, { timeout: TIMEOUT_MS })).stdout);
  } catch {
    return [];
  }
}

/** `NVIDIA H100 80GB HBM3, 81559, 580.159.04`, one line for each. */
export function parseGpus(listed: string): Gpu[] {
  return listed.split("\n").flatMap((line) => {
    const [name, mebibytes, driver] = line.split(", ").map((field) => field.trim());
    const memoryBytes = Number(mebibytes) * MEBIBYTE;
    return name && driver && memoryBytes > 0 ? [{ name, memoryBytes, driver }] : [];
  });
}

/** Returns the bytes that local models may use together; undefined where the memory of no GPU is known. */
export async function defaultGpuBudget(): Promise<number | undefined> {
  const total = (await nvidiaGpus()).reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  return total === 0 ? undefined : Math.floor(total * (1 - RESERVED_SHARE));
}
