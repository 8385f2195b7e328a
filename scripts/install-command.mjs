/** Puts `parlance` of this checkout on the PATH: `npm run install-command [-- FOLDER]`, by default ~/.local/bin. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const MARK = "# Written by `npm run install-command` of Parlance.";

const [folder = join(homedir(), ".local", "bin"), ...others] = process.argv.slice(2);
if (others.length > 0 || folder.startsWith("-")) {
  console.error("error: Name at most one folder: npm run install-command -- ~/bin");
  process.exit(2);
}
const target = join(resolve(folder), "parlance");
// It may be the command of an installed package.
if (existsSync(target) && !readFileSync(target, "utf8").includes(MARK)) {
  console.error(`error: ${target} exists and is another program. Remove it, or name another folder.`);
  process.exit(1);
}
const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
// npm's Node.js, which scripts of the checkout use, too. A folder without a service uses the checkout's.
const script = `#!/bin/sh
${MARK}
root=${quote(ROOT)}
PATH="$root/node_modules/.bin:$PATH" PARLANCE_CHECKOUT="$root" exec node "$root/scripts/start.mjs" "$@"
`;
mkdirSync(resolve(folder), { recursive: true });
writeFileSync(target, script);
chmodSync(target, 0o755);
console.log(`${target} runs this checkout, in any folder without a parlance.yaml or .parlance of its own.`);
if (!(process.env.PATH ?? "").split(delimiter).includes(resolve(folder))) {
  console.log(`${resolve(folder)} is not in PATH. Add this line to your shell's profile, such as ~/.profile:`);
  console.log(`  export PATH=${quote(resolve(folder))}:"$PATH"`);
}
