/** Compiles src and packages to JavaScript in dist, one file per module, because Node strips no types in node_modules. */

import { cp, glob, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { packageName, ROOT } from "./packed-manifest.ts";

const WORKSPACE = "@parlance-inference/";

/** Returns the names of the packages that the compiled code imports. */
export async function build(folder: string): Promise<Set<string>> {
  await rm(folder, { recursive: true, force: true });
  const imported = new Set<string>();
  // Every module is an entry: child processes and workers are started by file name, which no bundler follows.
  const bundle = await rolldown({
    input: await sourceModules(),
    cwd: ROOT,
    platform: "node",
    treeshake: false,
    external(id) {
      if (id.startsWith(".") || id.startsWith("/") || id.startsWith(WORKSPACE)) return false;
      if (!id.startsWith("node:") && !builtinModules.includes(id)) imported.add(packageName(id));
      return true;
    },
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: ({ facadeModuleId, name }) => `${distName(facadeModuleId ?? name)}.js`,
    chunkFileNames: ({ moduleIds: [id = "shared"] }) => `${distName(id)}.js`,
  });
  for (const chunk of output) {
    if (chunk.type !== "chunk") continue;
    for (const [quoted, quote, path = ""] of chunk.code.matchAll(/(["'`])(\.{1,2}\/[\w./-]+)\.ts\1/g)) {
      // Code that runs from source and from dist contains both names.
      if (chunk.code.includes(`${quote}${path}.js${quote}`)) continue;
      throw new Error(`${chunk.fileName} refers to a TypeScript file, which is not in the tarball: ${quoted}`);
    }
  }
  await copyAssets(folder);
  return imported;
}

/** `src/cli/serve.ts` → `cli/serve`, so that `../package.json` and `../assets` are where they are in the sources. */
function distName(file: string): string {
  // The bundler's own helpers have no file: `\0rolldown/runtime.js`.
  if (file.startsWith("\0")) return file.slice(1).replace(/\.js$/, "");
  const path = relative(ROOT, file).split(sep).join("/");
  return path.replace(/^src\//, "").replace(/\.ts$/, "");
}

async function sourceModules(): Promise<string[]> {
  const modules: string[] = [];
  for await (const file of glob(["src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT })) {
    if (!file.endsWith(".test.ts") && !file.endsWith(".d.ts")) modules.push(join(ROOT, file));
  }
  return modules.sort();
}

async function copyAssets(target: string): Promise<void> {
  for await (const folder of glob("packages/*/assets", { cwd: ROOT })) {
    await cp(join(ROOT, folder), join(target, folder), { recursive: true });
  }
}
