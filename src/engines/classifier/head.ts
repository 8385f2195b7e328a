/** Reads the trained part of the default moderation model, which is part of the package. */

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { logit, type WindowWeights } from "./pool-windows.ts";

/** The same relative path from `src` and from `dist`. */
const FOLDER = new URL("../../../assets/moderation/", import.meta.url);

const categoryNumbers = z.record(z.string(), z.number());

const Description = lazy.object(() => ({
  /** Categories in the order of the network's outputs. */
  categories: z.array(z.string()),
  /** Outputs of the network from which a text of one window is harmful. */
  thresholds: z.record(z.string(), z.number().gt(0).lt(1)),
  /** How the windows of a longer text are combined; see `WindowWeights`. */
  windows: z.object({ pair: z.number(), mean: z.number(), count: z.number(), offsets: categoryNumbers }),
}));

export interface Head {
  /** An ONNX graph whose larger weights are external data in `model.safetensors`. */
  graph: Uint8Array;
  categories: readonly string[];
  /** Log odds of each category's threshold, which are subtracted, so that 0.5 is the threshold of every score. */
  offsets: readonly number[];
  /** The same of sexual/minors, which is derived from the log odds of `sexual`. */
  minorsOffset: number;
  windows: WindowWeights;
}

/** Reads the graph and its description from the package's assets. */
export async function readHead(): Promise<Head> {
  const [graph, description] = await Promise.all([
    readFile(new URL("head.onnx", FOLDER)),
    readFile(new URL("head.json", FOLDER), "utf8"),
  ]);
  const { categories, thresholds, windows } = Description.parse(JSON.parse(description));
  const offsets = categories.map((category) => logit(thresholds[category] ?? 0.5));
  const windowOffsets = categories.map((category) => windows.offsets[category] ?? 0);
  return {
    ...{ graph, categories, offsets, minorsOffset: logit(thresholds["sexual/minors"] ?? 0.5) },
    windows: { ...windows, offsets: windowOffsets },
  };
}
