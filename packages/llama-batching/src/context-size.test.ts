import { expect, test } from "vitest";
import { chooseContextSize } from "./context-size.ts";

const GIB = 2 ** 30;
/** 100 KB of cache for each token. */
const choose = (trainedSize: number, availableBytes: number) =>
  chooseContextSize({ trainedSize, availableBytes, estimateBytes: async (tokens) => tokens * 100_000 });

test.each([
  ["the trained size when it fits", 32_768, 64 * GIB, { contextSize: 32_768, reason: "trained" }],
  ["half of it when memory is short", 131_072, 32 * GIB, { contextSize: 65_536, reason: "memory" }],
  ["16k where half of the memory holds it", 131_072, 4 * GIB, { contextSize: 16_384, reason: "memory" }],
  ["16k for an uneven trained size", 20_000, 4 * GIB, { contextSize: 16_384, reason: "memory" }],
  ["less when even that does not fit", 131_072, 2 * GIB, { contextSize: 8192, reason: "memory" }],
  ["at least 4096", 131_072, 1000, { contextSize: 4096, reason: "memory" }],
  ["a small trained size as it is", 2048, 1000, { contextSize: 2048, reason: "trained" }],
])("chooses %s", async (_name, trainedSize, availableBytes, choice) => {
  expect(await choose(trainedSize, availableBytes)).toEqual(choice);
});
