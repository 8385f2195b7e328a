/**
 * Adds missing hashes to package-lock.json. npm leaves them out for optional packages of other platforms when it keeps an
 * existing node_modules folder, and would then install them unchecked there.
 */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { type Lock, withoutIntegrity } from "./lock-file.ts";

const FILE = "package-lock.json";

const lock = JSON.parse(readFileSync(FILE, "utf8")) as Lock;
for (const { path, name, version } of withoutIntegrity(lock)) {
  const integrity = integrityOf(`${name}@${version}`);
  if (integrity === undefined) {
    console.log(`${name}@${version}: the registry has no such version`);
    continue;
  }
  const { version: _version, ...others } = lock.packages[path] ?? {};
  lock.packages[path] = { version, integrity, ...others };
}
writeFileSync(FILE, `${JSON.stringify(lock, undefined, 2)}\n`);

function integrityOf(spec: string): string | undefined {
  try {
    return (
      execFileSync("npm", ["view", spec, "dist.integrity"], { encoding: "utf8", stdio: "pipe" }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}
