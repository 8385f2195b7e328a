/** Tries llama.cpp on the GPU, in a process of its own, because a refused kernel aborts it. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeMissingSupport } from "@parlance-inference/llama-batching/gpu-support";
import { CrashOutput } from "../engines/host/crash-output.ts";
import { siblingModule } from "../engines/host/sibling-module.ts";

const run = promisify(execFile);
/** A driver that compiles kernels takes minutes the first time. */
const TIMEOUT_MS = 180_000;

/** `device`: the one that evaluated a token; undefined: none but the CPU, for this reason. */
export async function tryGpu(): Promise<{ device: string } | { device: undefined; reason: string }> {
  const missing = describeMissingSupport("auto");
  if (missing !== undefined) return { device: undefined, reason: missing };
  const module = fileURLToPath(siblingModule(import.meta.url, "./try-gpu-child"));
  try {
    const { stdout } = await run(process.execPath, [module], { timeout: TIMEOUT_MS });
    const device = stdout.trim().split("\n").at(-1) ?? "";
    return device === "cpu" || device === ""
      ? { device: undefined, reason: "llama.cpp finds no GPU that it supports, or no library for its driver." }
      : { device };
  } catch (failure) {
    const { stderr = "", signal } = failure as { stderr?: string; signal?: string };
    const output = new CrashOutput();
    for (const line of stderr.trim().split("\n")) output.push(line, 0);
    const reason = output.reason ?? stderr.trim().split("\n").at(-1) ?? "";
    const how = signal === undefined || signal === null ? "failed" : `crashed (${signal})`;
    return {
      device: undefined,
      reason: `llama.cpp ${how} on it: ${reason}. The driver may be older than the library, or the library may lack this GPU.`,
    };
  }
}
