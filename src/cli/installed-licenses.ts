/** Finds the packages that Parlance runs with on this machine, and their licenses. */

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

export interface InstalledPackage {
  name: string;
  version: string;
  license: string;
  /** Libraries in its binaries whose license differs. */
  contains?: string;
}

interface Manifest {
  name?: string;
  version?: string;
  license?: string | { type?: string };
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const OWN = "@parlance-inference/";
/** Contents that the package's own license does not mention. */
const CONTENTS: readonly [name: RegExp, contains: string][] = [
  [/^sherpa-onnx-(?!node$)/, "espeak-ng (GPL-3.0-or-later)"],
];

/** Walks the dependencies of the package of `module`, a URL. Sorted by name. */
export function installedPackages(module: string): InstalledPackage[] {
  const packages = new Map<string, InstalledPackage>();
  const visited = new Set<string>();
  const visit = (name: string, parent: string) => {
    const path = pathOf(name, parent);
    if (path === undefined || visited.has(path)) return;
    visited.add(path);
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    const { version = "" } = manifest;
    if (name !== ".." && !name.startsWith(OWN)) {
      const contains = CONTENTS.find(([pattern]) => pattern.test(name))?.[1];
      packages.set(`${name}@${version}`, {
        name,
        version,
        license: licenseOf(manifest),
        ...(contains && { contains }),
      });
    }
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      visit(each, pathToFileURL(path).href);
    }
  };
  visit("..", module);
  return [...packages.values()].sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/** Undefined for a package that is not installed, such as another platform's. */
function pathOf(name: string, parent: string): string | undefined {
  try {
    return findPackageJSON(name, parent);
  } catch {
    return undefined;
  }
}

function licenseOf({ license }: Manifest): string {
  return (typeof license === "string" ? license : license?.type) ?? "not stated";
}
