/**
 * Writes the modules in `node_modules` that the process which imports this module has loaded, one a line, into the file
 * `PARLANCE_TEST_MODULES` when it exits.
 */

import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

// Processes that this one starts would replace the file.
delete process.env.NODE_OPTIONS;

const FOLDER = "/node_modules/";
const modules = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    const start = url.lastIndexOf(FOLDER);
    if (start >= 0) modules.add(url.slice(start + FOLDER.length));
    return nextLoad(url, context);
  },
});
process.on("exit", () => {
  const file = process.env.PARLANCE_TEST_MODULES;
  if (file !== undefined) writeFileSync(file, [...modules].join("\n"));
});
