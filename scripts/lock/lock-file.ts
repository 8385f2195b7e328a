interface LockedPackage {
  name?: string;
  version?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  packages: Record<string, LockedPackage>;
}

interface Unverified {
  path: string;
  name: string;
  version: string;
  isOptional: boolean;
}

/** Returns the packages from a registry that npm would install without checking a hash. */
export function withoutIntegrity({ packages }: Lock): Unverified[] {
  return Object.entries(packages).flatMap(([path, { name, version, integrity, link, optional }]) => {
    if (!path.includes("node_modules/") || link === true || version === undefined || integrity !== undefined) return [];
    const installedAs = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return [{ path, name: name ?? installedAs, version, isOptional: optional === true }];
  });
}
