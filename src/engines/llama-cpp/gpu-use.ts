import { availableParallelism } from "node:os";
import { installedGpuPackages, missingLibraries } from "@parlance-inference/llama-batching/gpu-support";
import { nvidiaGpus } from "../../kernel/process/gpus.ts";
import type { LlamaCppSettings } from "./settings.ts";

type GpuSettings = Pick<LlamaCppSettings, "gpu" | "gpuLayers">;

/** Each sampler copies the vocabulary under a lock of its own; more threads wait for each other. */
const SAMPLING_THREADS = 8;

/** Whether llama.cpp is expected to use a GPU, by the installed packages and the machine. */
export async function usesGpu({ gpu, gpuLayers }: GpuSettings): Promise<boolean> {
  if (gpu === false || gpuLayers === 0) return false;
  if (process.platform === "darwin") return process.arch === "arm64";
  const usable = installedGpuPackages().filter(
    (each) => (gpu === "auto" || each.backend === gpu) && missingLibraries(each).length === 0,
  );
  if (usable.some(({ backend }) => backend === "vulkan")) return true;
  return usable.length > 0 && (await nvidiaGpus()).length > 0;
}

/**
 * On a CPU, evaluation and sampling wake other threads each time if the pool has several: 34 instead of 48 tokens/s. On a
 * GPU, sampling takes more than half of a step, and several threads share it.
 */
export async function poolThreads(settings: GpuSettings): Promise<number> {
  return (await usesGpu(settings)) ? Math.min(SAMPLING_THREADS, availableParallelism()) : 1;
}
