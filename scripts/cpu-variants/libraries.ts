/** ggml's CPU libraries of this platform, as node-llama-cpp installs them. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join, resolve } from "node:path";

const PACKAGES = resolve(import.meta.dirname, "../../node_modules/@node-llama-cpp");
const LIBRARY = /^(?:lib)?ggml-cpu-(.+)\.(?:so|dll|dylib)$/;
/** ggml looks for libraries in the folder itself alone. */
const HIDDEN = "other-variants";

/** Returns the folder and the names of the variants. Throws where the platform has a single library. */
export function findLibraries(packages = PACKAGES): { folder: string; variants: string[] } {
  const name = `${process.platform}-${process.arch}`;
  const folder = join(packages, name, "bins", name);
  restore(folder);
  const variants = namesIn(folder).map(variantOf);
  if (variants.length < 2) throw new Error(`${folder} has no variants of ggml's CPU library`);
  return { folder, variants };
}

/** Hides the libraries of all other variants until it is disposed of, or the process ends. */
export function useOnly(folder: string, variant: string): Disposable {
  const hidden = join(folder, HIDDEN);
  mkdirSync(hidden, { recursive: true });
  for (const name of namesIn(folder)) {
    if (variantOf(name) !== variant) renameSync(join(folder, name), join(hidden, name));
  }
  const end = () => {
    restore(folder);
    process.exit(1);
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  return {
    [Symbol.dispose]: () => {
      process.off("SIGINT", end).off("SIGTERM", end);
      restore(folder);
    },
  };
}

/** Also after a run that was killed. */
function restore(folder: string): void {
  const hidden = join(folder, HIDDEN);
  if (!existsSync(hidden)) return;
  for (const name of readdirSync(hidden)) renameSync(join(hidden, name), join(folder, name));
  rmdirSync(hidden);
}

function namesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => LIBRARY.test(name));
}

function variantOf(name: string): string {
  return LIBRARY.exec(name)?.[1] ?? name;
}
