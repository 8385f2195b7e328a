import type { OpenModel } from "../../contracts/open-model.ts";
import { residentBytes } from "../../kernel/process/process-usage.ts";

/** Bytes that are known before the first load. */
export interface ModelSize {
  fileBytes: number;
  /** What contexts take at first. */
  contextBytes: number;
}

/** Memory estimated in addition to the files before the first load; the measured default models use less. */
const ESTIMATED_BYTES = 150e6;
const ESTIMATED_PER_FILE_BYTE = 1.5;
/** A model on a GPU needs main memory for its process and the driver alone: 1.5 GB with 5 GB of weights. */
const ESTIMATED_BYTES_BESIDE_GPU = 1.6e9;
/** Weights and buffers. */
const ESTIMATED_GPU_PER_FILE_BYTE = 1.2;

/** What a model takes of the budgets: as measured while it was last open, and estimated before its first load. */
export class ModelMemory {
  /** Size of its files; 0 until it is known. */
  fileBytes = 0;
  /** Memory of its contexts at first. */
  contextBytes = 0;
  /** Whether it is expected to run on a GPU; known once it is loaded for the first time. */
  expectsGpu = false;
  #bytes: number | undefined;
  #gpuBytes: number | undefined;

  /** Measures an open model. */
  measure(model: OpenModel): void {
    this.#bytes = residentBytesOf(model) ?? this.#bytes;
    this.#gpuBytes = gpuBytesOf(model) ?? 0;
  }

  /** Returns main memory; `model`: undefined while none is open. */
  bytes(model: OpenModel | undefined): number {
    if (model !== undefined) this.measure(model);
    const estimated = ESTIMATED_BYTES + ESTIMATED_PER_FILE_BYTE * this.fileBytes + this.contextBytes;
    return this.#bytes ?? (this.expectsGpu ? Math.min(estimated, ESTIMATED_BYTES_BESIDE_GPU) : estimated);
  }

  /** Returns memory of GPUs. An estimate never exceeds the limit: some layers of a larger model are on the CPU. */
  gpuBytes(model: OpenModel | undefined, limitBytes = Number.POSITIVE_INFINITY): number {
    if (model !== undefined) {
      this.#gpuBytes = gpuBytesOf(model) ?? 0;
      return this.#gpuBytes;
    }
    const estimated = ESTIMATED_GPU_PER_FILE_BYTE * this.fileBytes + this.contextBytes;
    return Math.min(this.#gpuBytes ?? estimated, limitBytes);
  }
}

/** Memory of GPUs that an open model and its nested ones have taken; undefined: none, or unknown. */
export function gpuBytesOf({ gpuBytes, nested = [] }: OpenModel): number | undefined {
  return nested.map(gpuBytesOf).reduce((sum, bytes) => (bytes === undefined ? sum : (sum ?? 0) + bytes), gpuBytes);
}

/** Resident memory of the processes of a model and its nested ones; undefined without any. */
function residentBytesOf({ pid, nested = [] }: OpenModel): number | undefined {
  const processBytes = pid === undefined ? undefined : residentBytes(pid);
  return nested
    .map(residentBytesOf)
    .reduce((sum, bytes) => (bytes === undefined ? sum : (sum ?? 0) + bytes), processBytes);
}
