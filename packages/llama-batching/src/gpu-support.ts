/** What node-llama-cpp needs to use a GPU, and what of it is here. */

import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

export type GpuBackend = "cuda" | "vulkan" | "metal";

export interface GpuPackage {
  name: string;
  backend: GpuBackend;
  /** Libraries of the system that it loads. */
  libraries: readonly string[];
}

const LIBRARY_FOLDERS = [
  "/usr/lib",
  "/usr/lib64",
  "/lib64",
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib/wsl/lib",
  "/usr/local/nvidia/lib64",
  "/usr/local/lib",
];
const CUDA_FOLDERS = ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];

/** Packages with machine code for a GPU on this platform, the best first. */
export const GPU_PACKAGES: readonly GpuPackage[] =
  process.platform !== "linux" && process.platform !== "win32"
    ? []
    : [
        { suffix: "cuda", backend: "cuda" as const, libraries: ["libcuda.so.1", "libcudart.so.13", "libcublas.so.13"] },
        {
          suffix: "cuda-ext",
          backend: "cuda" as const,
          libraries: ["libcuda.so.1", "libcudart.so.12", "libcublas.so.12"],
        },
        { suffix: "vulkan", backend: "vulkan" as const, libraries: ["libvulkan.so.1"] },
      ].map(({ suffix, backend, libraries }) => ({
        name: `@node-llama-cpp/${process.platform === "win32" ? "win" : "linux"}-${process.arch}-${suffix}`,
        backend,
        libraries: process.platform === "linux" ? libraries : [],
      }));

/** The installed packages. A folder without machine code, such as an override in package.json leaves it, does not count. */
export function installedGpuPackages(): GpuPackage[] {
  const require = createRequire(import.meta.resolve("node-llama-cpp"));
  return GPU_PACKAGES.filter(({ name }) =>
    (require.resolve.paths(name) ?? []).some((folder) =>
      existsSync(join(folder, name, "bins", name.slice(name.indexOf("/") + 1))),
    ),
  );
}

export function missingLibraries({ libraries }: GpuPackage): string[] {
  const folders = libraryFolders();
  return libraries.filter((library) => !folders.some((folder) => existsSync(join(folder, library))));
}

function libraryFolders(): string[] {
  const folders = (process.env.LD_LIBRARY_PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const cuda = [process.env.CUDA_PATH ?? "/usr/local/cuda", ...cudaInstallations()];
  return [...folders, ...LIBRARY_FOLDERS, ...cuda.flatMap((folder) => CUDA_FOLDERS.map((each) => join(folder, each)))];
}

function cudaInstallations(): string[] {
  try {
    return readdirSync("/usr/local").flatMap((name) => (/^cuda-\d/.test(name) ? [join("/usr/local", name)] : []));
  } catch {
    return [];
  }
}

/** What a package for `backend` lacks, in one sentence with the way out; undefined: nothing that shows in files. */
export function describeMissingSupport(backend: "auto" | GpuBackend): string | undefined {
  const suited = GPU_PACKAGES.filter((each) => backend === "auto" || each.backend === backend);
  const [first] = suited;
  if (first === undefined) return undefined;
  const installed = installedGpuPackages().filter((each) => suited.includes(each));
  if (installed.length === 0) {
    const others = suited.slice(1).map(({ name }) => name);
    const either = others.length === 0 ? "" : ` (or ${others.join(" or ")})`;
    return `${first.name}${either} is not installed. Install it at the version of node-llama-cpp; it also needs ${needsOf(first)}.`;
  }
  if (installed.some((each) => missingLibraries(each).length === 0)) return undefined;
  const missing = installed.map((each) => `${each.name} needs ${missingLibraries(each).join(" and ")}`);
  return `${missing.join("; ")}, which ${missing.length === 1 ? "is" : "are"} not in the library path. Install ${needsOf(installed[0] ?? first)}, or name their folder in LD_LIBRARY_PATH.`;
}

function needsOf({ name, backend }: GpuPackage): string {
  if (backend === "vulkan") return "a Vulkan driver and loader";
  const version = name.endsWith("-ext") ? "12" : "13";
  return `NVIDIA's driver, and CUDA ${version}'s runtime and cuBLAS`;
}

/** `NoBinaryFoundError` does not say what is missing. */
export async function explainMissingBackend(gpu: "auto" | GpuBackend | false, failure: Error): Promise<string> {
  if (gpu === false) return `No llama.cpp binary for this machine: ${failure.message}`;
  const missing = describeMissingSupport(gpu);
  if (missing !== undefined) return `gpu: ${gpu} cannot be used: ${missing}`;
  const name = gpu === "auto" ? "the GPU" : gpu;
  return `No llama.cpp binary for ${name} on this machine: ${failure.message}. The driver may be older than the binary needs, or no GPU may be visible to this process (CUDA_VISIBLE_DEVICES).`;
}
