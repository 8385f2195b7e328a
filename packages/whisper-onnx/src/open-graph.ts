/** Opens a graph over a model's weights as an ONNX Runtime session. */

import { basename, dirname } from "node:path";
import { MAX_QUANTIZED } from "@parlance-inference/onnx-graph/quantize-rows";
import { InferenceSession } from "onnxruntime-node";
import { areByteProductsExact } from "./byte-products.ts";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import { Int8Weights } from "./int8-weights.ts";

/** Type of matrix products, as in faster-whisper: `int8` takes less time and memory and rounds weights and activations. */
export type ComputeType = "float32" | "int8";

/** `auto`: int8 where it is as accurate as float32. */
export async function resolveComputeType(setting: ComputeType | "auto"): Promise<ComputeType> {
  if (setting !== "auto") return setting;
  return (await areByteProductsExact()) ? "int8" : "float32";
}

export interface GraphOptions {
  threads: number;
  computeType: ComputeType;
  /** Keeps memory for the next run. False for inputs whose sizes differ. Default: true. */
  arena?: boolean;
}

/** `build` makes the graph over weights in a file. */
export async function openGraph(
  path: string,
  weights: WeightIndex,
  build: (weights: WeightIndex, file: string) => Uint8Array,
  { threads, computeType, arena = true }: GraphOptions,
): Promise<InferenceSession> {
  const session = { intra_op: { allow_spinning: "0" } };
  const options = { intraOpNumThreads: threads, interOpNumThreads: 1, enableCpuMemArena: arena };
  if (computeType === "float32") {
    const folder = { model_external_initializers_file_folder_path: dirname(path) };
    return InferenceSession.create(build(weights, basename(path)), {
      ...options,
      extra: { session: { ...session, ...folder } },
    });
  }
  const int8 = new Int8Weights(weights, MAX_QUANTIZED[(await areByteProductsExact()) ? "exact" : "overflowing"]);
  const file = "int8";
  const graph = build(int8, file);
  const externalData = [{ path: file, data: await int8.read(path) }];
  return InferenceSession.create(graph, { ...options, extra: { session }, externalData });
}
