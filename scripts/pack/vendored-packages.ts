/**
 * Packages that the tarball contains instead of depending on them. npm runs the install scripts of dependencies and
 * downloads their optional dependencies. A tarball cannot prevent either, since `overrides`, `allowScripts` and `.npmrc`
 * apply only in the root project. onnxruntime-node's script downloads CUDA libraries from NuGet and fails offline;
 * node-llama-cpp's optional CUDA and Vulkan packages take 669 MB.
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
  /** Packages that its code imports. */
  dependencies: string[];
  /** Packages with its native libraries, by platform. */
  optional: Record<string, string>;
  /** Globs of the files to copy. */
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
      // Without llama.cpp's source code, which the service never compiles.
      files: ["dist/**/*.js", "llama/*.json", "llama/grammars/*", "LICENSE"],
    },
    {
      name: "onnxruntime-node",
      // Its other two dependencies are used only by its install script.
      dependencies: ["onnxruntime-common"],
      optional: {},
      // CPU libraries only. DirectML.dll and the shader compilers are loaded only for a GPU.
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

/** Copies the packages to `<dist>/node_modules` with manifests without install scripts and optional dependencies. */
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
