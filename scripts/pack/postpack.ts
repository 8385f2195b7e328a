/** Runs after `npm pack`: restores the repository's package.json. */

import { rename } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./packed-manifest.ts";

await rename(join(ROOT, "node_modules/.package.json.before-pack"), join(ROOT, "package.json"));
