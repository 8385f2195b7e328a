/** Shows which chat models of the manifest this machine can run, and how fast. */

import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import { REFERENCE_CORES, type Recommendation } from "../model-store/recommend-models.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatTable } from "./format-table.ts";
import type { Machine } from "./machine.ts";

export function formatRecommendations(models: readonly Recommendation[], machine: Machine): string {
  const rows = models.map((model) => [
    model.id,
    model.bytes === undefined ? "unknown" : formatBytes(model.bytes),
    model.memoryBytes === undefined ? "unknown" : formatBytes(model.memoryBytes),
    formatSpeed(model),
    model.license,
    formatWayOut(model),
  ]);
  const gpu =
    machine.gpuBytes === undefined
      ? machine.gpus.length === 0
        ? ""
        : " llama.cpp does not use this machine's GPU yet: `parlance doctor` says why."
      : " Models that fit in the GPU's memory run there: their speeds are estimated from an H100; other cards have a fifth to a half of its memory's bandwidth.";
  return [
    `${machine.cores} cores, ${formatBytes(machine.freeBytes)} of ${formatBytes(machine.memoryBytes)} memory free; local models may use ${formatBytes(machine.modelMemoryBytes)}.`,
    "",
    formatTable(["MODEL", "DOWNLOAD", "MEMORY", "TOKENS/S", "LICENSE", ""], rows),
    "",
    ...models.flatMap(({ id, fits }) =>
      BUNDLED_MODELS.filter(({ requires }) => fits && requires === id).map(
        ({ id: bundled, task, description }) => `With ${id} comes ${bundled} for ${task}. ${description}.`,
      ),
    ),
    `Speeds are for one request on the CPU: measured on this machine, or estimated (~) from those and the size; where nothing is installed, as measured on ${REFERENCE_CORES} cores and scaled.${gpu}`,
  ].join("\n");
}

function formatSpeed({ tokensPerSecond, isMeasured }: Recommendation): string {
  if (tokensPerSecond === undefined) return "unknown";
  return `${isMeasured ? "" : "~"}${tokensPerSecond < 10 ? tokensPerSecond.toFixed(1) : Math.round(tokensPerSecond)}`;
}

function formatWayOut({ id, fits, isPulled }: Recommendation): string {
  if (!fits) return "needs more memory";
  // In a checkout, there is no command `parlance`.
  const command = process.env.npm_lifecycle_event === "parlance" ? "npm run parlance --" : "parlance";
  return isPulled ? "ready" : `${command} models pull ${id}`;
}
