/** Which models of the manifest a machine can run, and how fast. */

import type { Task } from "../contracts/task.ts";
import { filesWithBase, type ManifestEntry } from "./manifest/manifest-entry.ts";

export interface Recommendation {
  id: string;
  task: Task;
  description: string;
  license: string;
  /** For people: `English`, `119 languages`. */
  languages?: string | undefined;
  /** Size of the download; undefined where only the hub knows it. */
  bytes: number | undefined;
  memoryBytes: number | undefined;
  /** Speed of one request; undefined where the size is unknown. */
  tokensPerSecond: number | undefined;
  /** True where `tokensPerSecond` was measured with this model: on this machine, or elsewhere and scaled to its cores. */
  isMeasured: boolean;
  fits: boolean;
  isPulled: boolean;
}

/** Memory in bytes and cores that models may use. */
export interface MachineCapacity {
  cores: number;
  modelMemoryBytes: number;
  freeBytes: number;
  /** Memory of the GPU; 0 without one. */
  gpuBytes?: number | undefined;
}

interface RecommendOptions {
  tasks?: readonly Task[];
  /** Tokens per second that were measured on this machine, by the model's ID. */
  speeds?: ReadonlyMap<string, number>;
}

/** Cores of the machine on which the speeds of the manifest were measured. */
export const REFERENCE_CORES = 2;
/** Weights that those two cores read per second: 16 tokens/s with a model of 1.1 GB. */
const REFERENCE_BYTES_PER_SECOND = 19e9;
/** Work per token that does not depend on the size of the model. */
const SECONDS_PER_TOKEN = 0.004;
/** More cores do not help once the memory's bandwidth is used up. */
const MAX_SPEEDUP = 3;
/** Weights that an H100 reads per second for one of eight chats: 95 tokens/s with a model of 5 GB. */
const GPU_BYTES_PER_SECOND = 480e9;
/** For the driver, the display and other programs. */
const USABLE_GPU_SHARE = 0.95;
/** Memory beyond the weights: the context and the process. */
const MEMORY_PER_FILE_BYTE = 1.5;
const PROCESS_BYTES = 150e6;

/** Speed at which an answer appears about as fast as people read. */
const READING_TOKENS_PER_SECOND = 7;

/** Orders the models that fit and are fast enough by size, the best first; slower ones and those that do not fit follow. */
export function recommendModels(
  manifest: readonly ManifestEntry[],
  { cores, modelMemoryBytes, freeBytes, gpuBytes = 0 }: MachineCapacity,
  isPulled: (id: string) => boolean,
  { tasks = ["chat"], speeds = new Map() }: RecommendOptions = {},
): Recommendation[] {
  const memory = Math.min(modelMemoryBytes, freeBytes);
  const estimated = manifest
    .filter(({ task, isComponent }) => tasks.includes(task) && isComponent !== true)
    .map((entry): Recommendation => {
      const bytes = sizeOf(entry, manifest);
      const memoryBytes =
        entry.memoryBytes ?? (bytes === undefined ? undefined : PROCESS_BYTES + MEMORY_PER_FILE_BYTE * bytes);
      const isOnGpu = memoryBytes !== undefined && memoryBytes <= USABLE_GPU_SHARE * gpuBytes;
      return {
        id: entry.id,
        task: entry.task,
        description: entry.description,
        license: entry.license,
        languages: entry.languages,
        bytes,
        memoryBytes,
        tokensPerSecond: entry.task !== "chat" ? undefined : isOnGpu ? gpuSpeedOf(bytes) : speedOf(entry, bytes, cores),
        // The manifest has the speed of another machine.
        isMeasured: false,
        fits: isOnGpu || (memoryBytes !== undefined && memoryBytes <= memory),
        isPulled: isPulled(entry.id),
      };
    });
  return withSpeeds(estimated, speeds).sort(
    (a, b) => rank(a) - rank(b) || (rank(a) === 0 ? size(b) - size(a) : size(a) - size(b)),
  );
}

/** Replaces estimates by what was measured on this machine, and scales the others by how far those were off. */
function withSpeeds(models: Recommendation[], speeds: ReadonlyMap<string, number>): Recommendation[] {
  const ratios = models.flatMap(({ id, tokensPerSecond }) => {
    const speed = speeds.get(id);
    return speed === undefined || tokensPerSecond === undefined ? [] : [speed / tokensPerSecond];
  });
  if (ratios.length === 0) return models;
  const ratio = Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
  return models.map((model) => {
    const speed = speeds.get(model.id);
    if (speed !== undefined) return { ...model, tokensPerSecond: speed, isMeasured: true };
    const { tokensPerSecond } = model;
    return { ...model, tokensPerSecond: tokensPerSecond && tokensPerSecond * ratio, isMeasured: false };
  });
}

function rank({ task, fits, tokensPerSecond = 0 }: Recommendation): number {
  if (!fits) return 2;
  if (task !== "chat") return 0;
  return tokensPerSecond < READING_TOKENS_PER_SECOND ? 1 : 0;
}

function size({ bytes }: Recommendation): number {
  return bytes ?? Number.MAX_SAFE_INTEGER;
}

function sizeOf(entry: ManifestEntry, manifest: readonly ManifestEntry[]): number | undefined {
  const sizes = filesWithBase(entry, manifest).map(({ bytes }) => bytes);
  if (sizes.includes(undefined)) return entry.approximateBytes;
  return sizes.reduce<number>((sum, bytes = 0) => sum + bytes, 0);
}

function speedOf({ tokensPerSecond }: ManifestEntry, bytes: number | undefined, cores: number): number | undefined {
  const scale = Math.min(cores / REFERENCE_CORES, MAX_SPEEDUP);
  if (tokensPerSecond !== undefined) return tokensPerSecond * scale;
  if (bytes === undefined) return undefined;
  return scale / (bytes / REFERENCE_BYTES_PER_SECOND + SECONDS_PER_TOKEN);
}

function gpuSpeedOf(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : 1 / (bytes / GPU_BYTES_PER_SECOND + SECONDS_PER_TOKEN);
}
