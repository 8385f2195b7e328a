import { expect, test } from "vitest";
import { parseGpus } from "./gpus.ts";

test("reads the list of nvidia-smi, and nothing from its messages", () => {
  const listed = "NVIDIA H100 80GB HBM3, 81559, 580.159.04\nNVIDIA GeForce RTX 4090, 24564, 580.159.04\n";
  expect(parseGpus(listed)).toEqual([
    { name: "NVIDIA H100 80GB HBM3", memoryBytes: 81_559 * 2 ** 20, driver: "580.159.04" },
    { name: "NVIDIA GeForce RTX 4090", memoryBytes: 24_564 * 2 ** 20, driver: "580.159.04" },
  ]);
  expect(parseGpus("No devices were found\n")).toEqual([]);
  expect(parseGpus("NVIDIA GB10, [N/A], 580.1\n")).toEqual([]);
});
