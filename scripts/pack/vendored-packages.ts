/**
 * Packages that the tarball contains instead of depending on them. npm runs the install scripts of a dependency and
 * fetches its optional dependencies, and a tarball cannot forbid either: `overrides`, `allowScripts` and `.npmrc` count
 * only in the project at the top. onnxruntime-node's script fetches CUDA libraries from NuGet and fails without a network;
 * node-llama-cpp's optional dependencies for CUDA and Vulkan are 669 MB.
 */

import { readFileSync } from "node:fs";
import { cp, glob, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

interface PackageJson {
  version: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

interface Vendored {
  name: string;
  /** What its code imports. */
  dependencies: string[];
  /** Its native libraries, by platform. */
  optional: Record<string, string>;
  /** Its files that are copied, as globs. */
  files: string[];
}

const ROOT = resolve(import.meta.dirname, "../..");
const GPU = /-(cuda|cuda-ext|vulkan)$/;

export function vendoredPackages(): Vendored[] {
  const llama = manifestOf("node-llama-cpp");
  const natives = Object.entries(llama.optionalDependencies ?? {}).filter(([name]) => !GPU.test(name));
  return [
    {
      name: "node-llama-cpp",
      dependencies: Object.keys(llama.dependencies ?? {}),
      optional: Object.fromEntries(natives),
      // Without the sources of llama.cpp: the service never compiles it.
      files: ["dist/**/*.js", "llama/*.json", "llama/grammars/*", "LICENSE"],
    },
    {
      name: "onnxruntime-node",
      // The other two serve its install script only.
      dependencies: ["onnxruntime-common"],
      optional: {},
      // The CPU libraries alone. DirectML.dll and the shader compilers are loaded only for a GPU.
      files: [
        "dist/*.js",
        "bin/**/onnxruntime_binding.node",
        "bin/**/libonnxruntime.so.1",
        "bin/**/libonnxruntime.1.dylib",
        "bin/**/onnxruntime.dll",
      ],
    },
  ];
}

/** Copies them to `<dist>/node_modules`, where the compiled code finds them, with manifests that npm has nothing to do for. */
export async function copyVendoredPackages(dist: string): Promise<void> {
  for (const { name, files } of vendoredPackages()) {
    const source = join(ROOT, "node_modules", name);
    const target = join(dist, "node_modules", name);
    for await (const file of glob(files, { cwd: source })) {
      await mkdir(dirname(join(target, file)), { recursive: true });
      await cp(join(source, file), join(target, file));
    }
    const { scripts: _scripts, optionalDependencies: _optional, ...manifest } = manifestOf(name);
    await writeFile(join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
}

function manifestOf(name: string): PackageJson {
  return JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as PackageJson;
}
