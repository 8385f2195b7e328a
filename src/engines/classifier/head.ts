/** Reads the trained part of the default moderation model, which is part of the package. */

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { oddsOf } from "./pool-windows.ts";

/** The same relative path from `src` and from `dist`. */
const FOLDER = new URL("../../../assets/moderation/", import.meta.url);

const Description = z.object({
  /** Categories in the order of the network's outputs. */
  categories: z.array(z.string()),
  thresholds: z.record(z.string(), z.number().min(0).max(1)),
  /** Thresholds chosen on texts of several windows. */
  longThresholds: z.record(z.string(), z.number().gt(0).lt(1)).default({}),
});

export interface Head {
  /** An ONNX graph whose larger weights are external data in `model.safetensors`. */
  graph: Uint8Array;
  categories: readonly string[];
  thresholds: Readonly<Record<string, number>>;
  /** What the odds of texts of several windows are multiplied by, so that `thresholds` hold for them: one per category. */
  longFactors: readonly number[];
}

/** Reads the graph and its description from the package's assets. */
export async function readHead(): Promise<Head> {
  const [graph, description] = await Promise.all([
    readFile(new URL("head.onnx", FOLDER)),
    readFile(new URL("head.json", FOLDER), "utf8"),
  ]);
  const { categories, thresholds, longThresholds } = Description.parse(JSON.parse(description));
  const longFactors = categories.map((category) => {
    const [short, long] = [thresholds[category], longThresholds[category]];
    return short === undefined || long === undefined ? 1 : oddsOf(short) / oddsOf(long);
  });
  return { graph, categories, thresholds, longFactors };
}
