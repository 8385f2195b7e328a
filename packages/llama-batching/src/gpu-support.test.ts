import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { describeMissingSupport, explainMissingBackend, GPU_PACKAGES, missingLibraries } from "./gpu-support.ts";

afterEach(() => vi.unstubAllEnvs());

test.runIf(process.platform === "linux" && process.arch === "x64")(
  "names the package, the driver, CUDA's runtime and cuBLAS when no package is installed",
  async () => {
    expect(describeMissingSupport("cuda")).toBe(
      "@node-llama-cpp/linux-x64-cuda (or @node-llama-cpp/linux-x64-cuda-ext) is not installed. Install it at the version of node-llama-cpp; it also needs NVIDIA's driver, and CUDA 13's runtime and cuBLAS.",
    );
    expect(describeMissingSupport("auto")).toContain("linux-x64-vulkan");
    expect(await explainMissingBackend("cuda", new Error("NoBinaryFoundError"))).toMatch(
      /^gpu: cuda cannot be used: @/,
    );
    expect(await explainMissingBackend(false, new Error("broken"))).toContain("broken");
  },
);

test.runIf(process.platform === "linux")("finds libraries in LD_LIBRARY_PATH", () => {
  const folder = mkdtempSync(join(tmpdir(), "gpu-support-"));
  try {
    const [cuda] = GPU_PACKAGES;
    if (cuda === undefined) throw new Error("no packages on this platform");
    const invented = { ...cuda, libraries: ["libinvented-cudart.so.13", "libinvented-cublas.so.13"] };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "libinvented-cudart.so.13"), "");
    vi.stubEnv("LD_LIBRARY_PATH", folder);
    expect(missingLibraries(invented)).toEqual(["libinvented-cublas.so.13"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
