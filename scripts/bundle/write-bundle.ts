/** Bundles the sources as they are, for the next `npm start`. Does nothing while another process does. */

import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleService } from "./bundle-service.ts";
import { BUNDLES, COMPLETE, currentBundle } from "./current-bundle.mjs";

/** A build that was killed leaves its folder. */
const ABANDONED_MS = 10 * 60_000;
/** Services that still run load parts of earlier bundles when they need them. */
const MAX_KEPT = 3;

const { folder, isComplete } = currentBundle();
if (!isComplete && claim()) {
  try {
    await bundleService(folder);
    // A file that has changed meanwhile may be in the bundle in part.
    if (currentBundle().folder === folder) writeFileSync(join(folder, COMPLETE), "");
    else rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  removeOld();
}

/** Creates the folder, which only one process can. */
function claim(): boolean {
  mkdirSync(BUNDLES, { recursive: true });
  if (ageOf(folder) > ABANDONED_MS) rmSync(folder, { recursive: true, force: true });
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function removeOld(): void {
  const bundles = readdirSync(BUNDLES).map((name) => join(BUNDLES, name));
  const oldest = bundles.sort((a, b) => ageOf(a) - ageOf(b)).slice(MAX_KEPT);
  for (const each of oldest) rmSync(each, { recursive: true, force: true });
}

function ageOf(path: string): number {
  return existsSync(path) ? Date.now() - statSync(path).mtimeMs : 0;
}
