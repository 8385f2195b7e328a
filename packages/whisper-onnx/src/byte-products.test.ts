import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { areByteProductsExact } from "./byte-products.ts";
import { resolveComputeType } from "./open-graph.ts";

const flags = () => readFileSync("/proc/cpuinfo", "utf8");

test.skipIf(process.arch !== "x64" || process.platform !== "linux")(
  "takes products of bytes to be exact where the processor has VNNI instructions",
  async () => {
    expect(await areByteProductsExact()).toBe(/\b(?:avx512_vnni|avx_vnni|amx_int8)\b/.test(flags()));
  },
);

test("chooses int8 by itself only where products are exact", async () => {
  const expected = (await areByteProductsExact()) ? "int8" : "float32";
  expect(await resolveComputeType("auto")).toBe(expected);
  expect(await resolveComputeType("int8")).toBe("int8");
  expect(await resolveComputeType("float32")).toBe("float32");
});
