/** Builds the tarball's package.json: every dependency of its code, pinned to the locked version. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { vendoredPackages } from "./vendored-packages.ts";

export interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

interface Lock {
  packages: Record<string, { version?: string; link?: boolean; dependencies?: Record<string, string> }>;
}

export const ROOT = resolve(import.meta.dirname, "../..");
const KEPT_FIELDS = ["name", "version", "private", "description", "license", "type", "engines", "bin", "files"];

export function packedManifest(root: Manifest = readJson<Manifest>("package.json")): Manifest {
  const { packages: locked } = readJson<Lock>("package-lock.json");
  const vendored = vendoredPackages();
  const names = new Set<string>();
  const optionalDependencies = { ...root.optionalDependencies };
  for (const [path, entry] of Object.entries(locked)) {
    if (path !== "" && !path.startsWith("packages/")) continue;
    if (path.includes("node_modules/")) continue;
    for (const name of Object.keys(path === "" ? (root.dependencies ?? {}) : (entry.dependencies ?? {})))
      names.add(name);
  }
  for (const { name, dependencies, optional } of vendored) {
    if (!names.delete(name)) throw new Error(`${name} is vendored into the tarball, but no package depends on it.`);
    for (const dependency of dependencies) names.add(dependency);
    Object.assign(optionalDependencies, optional);
  }
  const dependencies: Record<string, string> = {};
  for (const name of [...names].sort()) {
    const entry = locked[`node_modules/${name}`];
    if (entry?.link) continue;
    if (entry?.version === undefined)
      throw new Error(`${name} is not at the top of node_modules: align its version ranges.`);
    dependencies[name] = entry.version;
  }
  const kept = Object.fromEntries(KEPT_FIELDS.map((field) => [field, root[field]]));
  return { ...kept, name: root.name, version: root.version, dependencies, optionalDependencies };
}

/** `@scope/name/file` → `@scope/name`. */
export function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(resolve(ROOT, file), "utf8")) as T;
}
