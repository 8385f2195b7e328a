/**
 * Packages that the tarball contains instead of depending on them. npm runs the install scripts of dependencies and
 * downloads their optional dependencies. A tarball cannot prevent either, since `overrides`, `allowScripts` and `.npmrc`
 * apply only in the root project. onnxruntime-node's script downloads CUDA libraries from NuGet and fails offline;
 * node-llama-cpp's optional CUDA and Vulkan packages take 669 MB.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cp, glob, mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { x as extract } from "tar";

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
  /** Whether the installation here lacks what other platforms need (`scripts/prune-install.mjs`). */
  isPruned: boolean;
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
      isPruned: false,
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
      isPruned: true,
    },
  ];
}

/** Copies the packages to `<dist>/node_modules` with manifests without install scripts and optional dependencies. */
export async function copyVendoredPackages(dist: string): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "parlance-pack-"));
  for (const { name, files, isPruned } of vendoredPackages()) {
    const source = isPruned ? await fetchPackage(name, folder.path) : join(ROOT, "node_modules", name);
    const target = join(dist, "node_modules", name);
    for await (const file of glob(files, { cwd: source })) {
      await mkdir(dirname(join(target, file)), { recursive: true });
      await cp(join(source, file), join(target, file));
    }
    const { scripts: _scripts, optionalDependencies: _optional, ...manifest } = manifestOf(name);
    await writeFile(join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
}

/** Downloads a package in the version of the lock file, and returns its folder. Throws if its hash is another one. */
async function fetchPackage(name: string, folder: string): Promise<string> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const { version, integrity } = packages[`node_modules/${name}`] as { version: string; integrity: string };
  const npm = ["pack", `${name}@${version}`, "--json", "--pack-destination", folder];
  const { stdout } = await promisify(execFile)("npm", npm, { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const path = join(folder, filename);
  const hash = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
  if (hash !== integrity) throw new Error(`${name}@${version} has the hash ${hash}, not ${integrity}`);
  await extract({ file: path, cwd: folder });
  return join(folder, "package");
}

function manifestOf(name: string): PackageJson {
  return JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as PackageJson;
}
